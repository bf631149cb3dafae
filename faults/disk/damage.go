package disk

import (
	"fmt"
	"io/fs"
	"os"
)

// Damage is what may become of a file that nobody has open.
type Damage string

// The damages.
const (
	HalfCut         Damage = "cut in half"
	OneByte         Damage = "one byte changed"
	Emptied         Damage = "empty"
	AnothersContent Damage = "the content of another"
)

// Do damages the file in its place, so that its owner and mode stay. another is
// whose content AnothersContent puts there.
func (d Damage) Do(file, another string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("damaging a file (%s): %w", d, err)
	}
	if len(content) == 0 {
		return fmt.Errorf("damaging the file %s (%s): it is empty already; expected some content", file, d)
	}
	switch d {
	case HalfCut:
		content = content[:len(content)/2]
	case OneByte:
		content[len(content)/2] ^= 1
	case Emptied:
		content = nil
	case AnothersContent:
		if content, err = os.ReadFile(another); err != nil {
			return fmt.Errorf("damaging the file %s (%s): %w", file, d, err)
		}
	default:
		return fmt.Errorf("damaging the file %s: there is no damage %q", file, string(d))
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return fmt.Errorf("damaging the file %s (%s): %w", file, d, err)
	}
	return nil
}

// KindOf is what stands under a name: file, folder, link, or something else.
func KindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	}
	return "something else"
}
