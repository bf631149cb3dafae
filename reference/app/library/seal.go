package library

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
)

// seal encrypts content for one place of one item (AES-256-GCM). The place is
// authenticated, so that sealed content cannot be moved to another item or field.
func seal(key []byte, itemID, place string, content []byte) ([]byte, error) {
	aead, err := aeadOf(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(content)+aead.Overhead())
	rand.Read(nonce)
	return aead.Seal(nonce, nonce, content, address(itemID, place)), nil
}

// open is the inverse of seal.
func open(key []byte, itemID, place string, sealed []byte) ([]byte, error) {
	aead, err := aeadOf(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, fmt.Errorf("opening the %s of item %s: %w", place, itemID, ErrSealed)
	}
	content, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], address(itemID, place))
	if err != nil {
		return nil, fmt.Errorf("opening the %s of item %s: %w", place, itemID, ErrSealed)
	}
	return content, nil
}

func aeadOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("using the account's library key of %d bytes: %w", len(key), err)
	}
	return cipher.NewGCM(block)
}

func address(itemID, place string) []byte { return []byte(itemID + "\x00" + place) }
