package jobs_test

import (
	"os"
	"testing"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
