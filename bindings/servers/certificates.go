package servers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Names of the files that writeCertificates makes: the authority's certificate,
// which a client trusts, and the server's certificate and key.
const (
	AuthorityFile   = "ca.pem"
	certificateFile = "server.pem"
	keyFile         = "server-key.pem"
)

// writeCertificates makes an authority and a certificate for a server on
// 127.0.0.1 and localhost, unless they are there already.
func writeCertificates(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, keyFile)); err == nil {
		return nil
	}
	authority := certificate("pianola test authority")
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	server := certificate("localhost")
	server.KeyUsage, server.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.DNSNames, server.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := writeCertificate(dir, AuthorityFile, authority, authority, authorityKey, authorityKey); err != nil {
		return err
	}
	if err := writeCertificate(dir, certificateFile, server, authority, serverKey, authorityKey); err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		return err
	}
	return writePEM(dir, keyFile, "PRIVATE KEY", der)
}

func certificate(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // its reader never fails
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(30 * 24 * time.Hour),
	}
}

func writeCertificate(dir, name string, of, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, of, by, &key.PublicKey, byKey)
	if err != nil {
		return fmt.Errorf("make the certificate %s: %w", name, err)
	}
	return writePEM(dir, name, "CERTIFICATE", der)
}

func writePEM(dir, name, kind string, der []byte) error {
	return os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// trust is the hint that tells which authority to trust.
func trust(dir string) string {
	return "its certificate is signed by the authority in " + filepath.Join(dir, AuthorityFile)
}
