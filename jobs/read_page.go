package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// page is one page of a list but for its items, which are given away one by one:
// a page of large objects would not fit into memory twice.
type page struct {
	kind, apiVersion string
	message          string // of a Status
	metadata         struct {
		ResourceVersion    string `json:"resourceVersion"`
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount"`
	}
	hasItems bool
	items    int
	// refused is why an item was not taken. None was given away after it.
	refused error
}

// decodePage reads a page to its end, and gives away each item as JSON that is
// valid until the next one. Whether the page is the one that was asked for can be
// told only afterwards: its kind may be written behind its items.
func decodePage(body io.Reader, take func(item []byte) error) (*page, error) {
	p := new(page)
	decoder := json.NewDecoder(body)
	if err := expect(decoder, '{'); err != nil {
		return nil, err
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err == nil {
			err = p.field(decoder, key, take)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := expect(decoder, '}'); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &answerError{"the answer does not end where its list does"}
	}
	return p, nil
}

// field decodes the value of a key.
func (p *page) field(decoder *json.Decoder, key json.Token, take func([]byte) error) error {
	switch key {
	case "kind":
		return decoder.Decode(&p.kind)
	case "apiVersion":
		return decoder.Decode(&p.apiVersion)
	case "message":
		return decoder.Decode(&p.message)
	case "metadata":
		return decoder.Decode(&p.metadata)
	case "items":
		return p.takeItems(decoder, take)
	}
	return decoder.Decode(new(json.RawMessage))
}

func (p *page) takeItems(decoder *json.Decoder, take func([]byte) error) error {
	if p.hasItems {
		return &answerError{"the list has its items twice"}
	}
	switch start, err := decoder.Token(); {
	case err != nil:
		return err
	case start == nil:
		return nil
	case start != json.Delim('['):
		return &answerError{fmt.Sprintf("the items of the list are %v", start)}
	}
	p.hasItems = true
	var item json.RawMessage
	for decoder.More() {
		if err := decoder.Decode(&item); err != nil {
			return err
		}
		p.items++
		if p.refused == nil {
			p.refused = take(item)
		}
	}
	return expect(decoder, ']')
}

// expect reads a token.
func expect(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	if err == nil && token != want {
		err = &answerError{"the answer is not the JSON of a list"}
	}
	return err
}
