package engine

import "time"

// withAges gives the objects of a release the ages that the same objects have
// in --snapshot: manifests do not know how old they are. The snapshot itself
// stays as it is.
func (s *Snapshot) withAges() *Snapshot {
	ages := map[string]time.Time{}
	note := func(m *Meta) {
		if m.Known && !m.Created.IsZero() {
			ages[m.String()] = m.Created
		}
	}
	for _, route := range s.Routes {
		note(&route.Meta)
	}
	for _, c := range s.Certificates {
		note(&c.Meta)
	}
	for _, set := range s.ListenerSets {
		note(&set.Meta)
	}
	if len(ages) == 0 {
		return s
	}
	known := *s
	known.Routes = aged(s.Routes, ages, func(r *Route) *Meta { return &r.Meta })
	known.Certificates = aged(s.Certificates, ages, func(c *Certificate) *Meta { return &c.Meta })
	known.ListenerSets = aged(s.ListenerSets, ages, func(g *Gateway) *Meta { return &g.Meta })
	return &known
}

// aged returns a list in which the objects that have no age, and of which one
// is known, are replaced by copies that have it.
func aged[T any](list []*T, ages map[string]time.Time, meta func(*T) *Meta) []*T {
	out := make([]*T, len(list))
	for i, object := range list {
		m := meta(object)
		if age, known := ages[m.String()]; known && m.Created.IsZero() {
			older := *object
			meta(&older).Created = age
			object = &older
		}
		out[i] = object
	}
	return out
}
