package clustertest

import "testing"

// Tests that run side by side have a cluster each, a test and its subtests have
// one, and who comes later takes what nobody uses any more.
func TestPool(t *testing.T) {
	var p pool
	a, b := p.take("TestA"), p.take("TestB")
	if a == b {
		t.Fatal("two tests have one cluster")
	}
	if again := p.take("TestA"); again != a {
		t.Error("a subtest has another cluster than its test")
	}
	p.giveBack(a)
	if c := p.take("TestC"); c == a || c == b {
		t.Error("a test has the cluster of one that runs")
	}
	p.giveBack(a)
	if d := p.take("TestD"); d != a {
		t.Error("the cluster of a test that has ended is not used again")
	}
	if later := p.take("TestA"); later == a || later == b {
		t.Error("a test comes back to a cluster that is another's by now")
	}
}
