package clustertest

import (
	"slices"
	"sync"
)

// clusters are those of this process.
var clusters pool

// pool are clusters that tests take in turn.
type pool struct {
	sync.Mutex
	all []*cluster
}

type cluster struct {
	start func() (*Env, error) // once
	test  string               // whose it is, or was
	users int                  // of the test and its subtests, those that use it
}

// take returns the cluster of a test, or one that nobody uses.
func (p *pool) take(test string) *cluster {
	p.Lock()
	defer p.Unlock()
	i := slices.IndexFunc(p.all, func(c *cluster) bool { return c.test == test && c.users > 0 })
	if i < 0 {
		i = slices.IndexFunc(p.all, func(c *cluster) bool { return c.users == 0 })
	}
	if i < 0 {
		i = len(p.all)
		p.all = append(p.all, &cluster{start: sync.OnceValues(func() (*Env, error) { return newEnv(i) })})
	}
	p.all[i].test = test
	p.all[i].users++
	return p.all[i]
}

func (p *pool) giveBack(c *cluster) {
	p.Lock()
	defer p.Unlock()
	c.users--
}
