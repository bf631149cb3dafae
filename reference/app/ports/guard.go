package ports

import "github.com/holdfast-mcp/holdfast/reference/app/session"

// Guard is the real OwnerGuard.
type Guard struct{}

// Admit decides nothing about an owner before the account is known (WR-18), and
// nothing in a locked library.
func (Guard) Admit(owner string, now Situation) error {
	known := now.Account.Phase == session.Restored || now.Account.Phase == session.Denied
	switch {
	case !known || owner == "":
		return ErrAccountUnresolved
	case owner != now.Account.Account:
		return OwnerMismatch{Owner: owner, Account: now.Account.Account}
	case now.Account.Phase == session.Denied:
		return session.ErrAccessDenied
	case now.Locked:
		return ErrLibraryLocked
	}
	return nil
}
