package postrender

import (
	"bytes"
	"slices"

	"github.com/gatewright/gatewright/postrender/engine"
)

// scanner decides by a glance which documents can hold an object of its kinds.
type scanner struct{ kinds []string }

// allKinds are the kinds that a document must mention to be parsed. The first
// is wanted only where a TLSRoute may lead to it: charts are full of Services.
var allKinds = []string{
	engine.KindService,
	engine.KindGateway, engine.KindListenerSet,
	engine.KindHTTPRoute, engine.KindGRPCRoute, engine.KindTLSRoute,
	engine.KindCertificate, engine.KindIssuer, engine.KindClusterIssuer,
	engine.KindGrant, engine.KindNamespace, engine.KindSecret,
}

func newScanner(services bool) scanner {
	if services {
		return scanner{allKinds}
	}
	return scanner{allKinds[1:]}
}

// NeedsServices tells whether Services matter for what a stream holds: only
// those that a TLSRoute forwards to do.
func NeedsServices(stream []byte) bool { return bytes.Contains(stream, []byte(engine.KindTLSRoute)) }

// concernsUs decides without parsing whether a document can hold an object of
// our kinds. Charts full of CRDs, which mention every kind there is, are why
// it looks for the kind at column 0 first.
func (s scanner) concernsUs(text []byte) bool {
	at := content(text)
	if at == len(text) {
		return false
	}
	body := text[at:]
	if !isLetter(body[0]) && body[0] != '"' && body[0] != '\'' {
		return s.mentions(body) // JSON, flow, an indented root, a tag, an anchor
	}
	verdict := s.rootKind(body)
	return verdict == kindOurs || verdict == kindUnclear && s.mentions(body)
}

// What the lines "kind:" at column 0 say of a document.
const (
	kindUnclear = iota // nothing that can be told by a glance
	kindOther
	kindOurs
)

// rootKind looks at every "kind:" line at column 0.
func (s scanner) rootKind(body []byte) int {
	result, found := kindOther, false
	for _, key := range []string{"kind", `"kind"`, `'kind'`} {
		for at := 0; at < len(body); {
			if value, is := valueOf(body[at:], key); is {
				found = true
				switch s.kindOf(value, body) {
				case kindOurs:
					return kindOurs
				case kindUnclear:
					result = kindUnclear
				}
			}
			i := bytes.Index(body[at:], []byte("\n"+key))
			if i < 0 {
				break
			}
			at += i + 1
		}
	}
	if !found {
		return kindUnclear
	}
	return result
}

// valueOf returns what stands behind the key on a line that begins with it.
func valueOf(text []byte, key string) (string, bool) {
	rest, found := bytes.CutPrefix(text, []byte(key))
	if !found {
		return "", false
	}
	rest = rest[skipBlanks(rest, 0):]
	if len(rest) == 0 || rest[0] != ':' || !endsWord(rest[1:]) {
		return "", false
	}
	value := rest[1:lineEnd(rest, 0)]
	if i := bytes.Index(value, []byte(" #")); i >= 0 {
		value = value[:i]
	}
	return string(bytes.TrimSpace(value)), true
}

// kindOf judges the value of a "kind:" line.
func (s scanner) kindOf(value string, body []byte) int {
	if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	item, isList := bytes.CutSuffix([]byte(value), []byte("List"))
	switch {
	case value == "" || bytes.ContainsFunc([]byte(value), func(r rune) bool { return r > 'z' || !isWord(byte(r)) }):
		return kindUnclear
	case value == engine.KindSecret || isList && string(item) == engine.KindSecret:
		return pick(holdsTLS(body))
	case slices.Contains(s.kinds, value), isList && slices.Contains(s.kinds, string(item)):
		return kindOurs
	case isList:
		return pick(s.mentions(body)) // List, or somebody's own list kind
	}
	return kindOther
}

func pick(ours bool) int {
	if ours {
		return kindOurs
	}
	return kindOther
}

// mentions tells whether a text holds the name of one of our kinds, or of a
// list of them, as a word.
func (s scanner) mentions(text []byte) bool {
	for _, kind := range s.kinds {
		if hasWord(text, kind) && (kind != engine.KindSecret || holdsTLS(text)) {
			return true
		}
	}
	return false
}

// holdsTLS tells whether a Secret can have a name like those we compute; no
// other Secret matters.
func holdsTLS(text []byte) bool { return bytes.Contains(text, []byte("-tls")) }

func hasWord(text []byte, word string) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(word))
		if i < 0 {
			return false
		}
		start := at + i
		at = start + len(word)
		rest := bytes.TrimPrefix(text[at:], []byte("List"))
		if (start == 0 || !isWord(text[start-1])) && (len(rest) == 0 || !isWord(rest[0])) {
			return true
		}
	}
}

func isWord(c byte) bool { return isLetter(c) || isDigit(c) }
