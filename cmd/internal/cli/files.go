package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gatewright/gatewright/jobs/report"
)

// canWrite tells whether the files of the reports can be written, before the sweep
// writes anything else. It leaves them as they are.
func (f *sweepFlags) canWrite() error {
	return errors.Join(forFlag("report", f.report, tryFile(f.report)), forFlag("termination-log", f.termination, tryFile(f.termination)))
}

// files writes the report to the files that the flags name.
func (f *sweepFlags) files(got *report.Report) error {
	var errs []error
	if f.report != "" {
		data, err := got.JSON()
		if err == nil {
			err = os.WriteFile(f.report, data, 0o644)
		}
		errs = append(errs, forFlag("report", f.report, err))
	}
	if f.termination != "" {
		errs = append(errs, forFlag("termination-log", f.termination, os.WriteFile(f.termination, got.Termination(), 0o644)))
	}
	return errors.Join(errs...)
}

// tryFile tells whether a file can be written. What is no file, such as a pipe,
// may wait for a reader, and is not tried.
func tryFile(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	file, opened := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if opened != nil {
		return opened
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errors.Join(file.Close(), os.Remove(path))
	}
	return file.Close()
}

// forFlag names the flag that gave the path at which something failed.
func forFlag(flag, path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--%s %w; give it a file that can be written", flag, atPath(path, err))
}

// atPath is an error of the operating system about the path that the user gave,
// in place of that of a temporary file.
func atPath(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", path, failed.Err)
	}
	if failed, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("%s: %w", path, failed.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
