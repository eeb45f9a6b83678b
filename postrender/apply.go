package postrender

import (
	"errors"
	"reflect"
)

// editError is why a change cannot be made, and what to do.
type editError struct{ message, fix string }

func (e *editError) Error() string { return e.message }

var errNoEdit = &editError{
	"its YAML cannot be edited without changing other parts of the document",
	"write the listeners and annotations of the manifest without aliases, merge keys and directives",
}

func noMapping(at keyPath) error {
	return &editError{at.String() + " is missing or no mapping", "correct the manifest"}
}

// changeError is why one of several changes cannot be made.
type changeError struct {
	index int // of the change
	error
}

func (e *changeError) Unwrap() error { return e.error }

// apply returns the text with the changes in it, made one after the other.
// Whatever way they were made, the new text says what the old one said and the
// changes, and nothing else. All of them are made and proven at once, since a
// List may hold hundreds of Gateways; only what cannot be is made by halves.
func apply(text []byte, changes ...change) ([]byte, error) {
	t, err := parse(text)
	if err != nil {
		return nil, err
	}
	wanted, err := t.decode()
	if err != nil {
		return nil, err
	}
	for i, c := range changes {
		if err := c.want(wanted); err != nil {
			return nil, &changeError{i, err}
		}
	}
	if guesses := guess(t, changes); guesses != nil {
		if out := splice(t, guesses, wanted); out != nil {
			return out, nil
		}
		if len(changes) > 1 {
			return applyHalves(text, changes)
		}
	}
	for _, flatten := range []bool{false, true} {
		out, err := rewrite(text, changes, flatten)
		if err == nil && says(out, wanted) {
			return out, nil
		}
	}
	if len(changes) > 1 {
		return applyHalves(text, changes)
	}
	return nil, errNoEdit
}

func applyHalves(text []byte, changes []change) ([]byte, error) {
	half := len(changes) / 2
	text, err := apply(text, changes[:half]...)
	if err != nil {
		return nil, at(0, err)
	}
	text, err = apply(text, changes[half:]...)
	if err != nil {
		return nil, at(half, err)
	}
	return text, nil
}

// at says of which change an error is, given that of the first one.
func at(first int, err error) error {
	if e, is := errors.AsType[*changeError](err); is {
		return &changeError{first + e.index, e.error}
	}
	return &changeError{first, err}
}

// guess returns the splices of each change, or nil if one has none: then the
// document must be encoded anew in any case.
func guess(t *tree, changes []change) (guesses [][][]span) {
	for _, c := range changes {
		splices := c.splices(t)
		if len(splices) == 0 {
			return nil
		}
		guesses = append(guesses, splices)
	}
	return guesses
}

// splice makes one change by its best guess that says what is wanted, or
// several by the best one of each. It returns nil if that is not what they say.
func splice(t *tree, guesses [][][]span, wanted any) []byte {
	var best []span
	for _, splices := range guesses {
		best = append(best, splices[0]...)
	}
	tries := [][]span{best}
	if len(guesses) == 1 {
		tries = guesses[0]
	}
	for _, spans := range tries {
		if out := t.replace(spans); says(out, wanted) {
			return out
		}
	}
	return nil
}

// says tells whether a text is one document that decodes to the value.
func says(text []byte, wanted any) bool {
	if len(split(text)) != 1 {
		return false
	}
	t, err := parse(text)
	if err != nil {
		return false
	}
	got, err := t.decode()
	return err == nil && reflect.DeepEqual(got, wanted)
}
