import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, diffieHellman, hash } from 'node:crypto';
import { encodeTl } from '../tl/record.ts';
import { publicKeyEd25519 } from '../tl/adnl.ts';

// DER around raw 32-byte keys (RFC 8410), the only raw import of private keys in node:crypto.
const pkcs8Ed25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const pkcs8X25519 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const spkiX25519 = Buffer.from('302a300506032b656e032100', 'hex');

/** Prime of Curve25519. */
const prime = (1n << 255n) - 19n;

/** Ed25519 key pair that can agree on a secret with another Ed25519 key (service/liteserver/README.md#handshake). */
export type AdnlIdentity = {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  readonly keyId: Buffer;
  /** Returns a 32-byte X25519 secret. Throws on a peer key without one (a point of small order). */
  agree(peerPublicKey: Buffer): Buffer;
};

/** @param seed Ed25519 seed, 32 bytes */
export function adnlIdentity(seed: Buffer): AdnlIdentity {
  const signingKey = createPrivateKey({ key: Buffer.concat([pkcs8Ed25519, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = rawPublicKey(createPublicKey(signingKey));
  // The Curve25519 scalar is the first half of SHA-512(seed). X25519 itself clamps it.
  const scalar = hash('sha512', seed, 'buffer').subarray(0, 32);
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8X25519, scalar]), format: 'der', type: 'pkcs8' });
  return {
    publicKey,
    keyId: adnlKeyId(publicKey),
    agree: (peerPublicKey) => diffieHellman({ privateKey, publicKey: curveKey(peerPublicKey) }),
  };
}

/** Returns the SHA-256 of the boxed `pub.ed25519`, which identifies a key in handshakes and in signature sets. */
export function adnlKeyId(publicKey: Buffer): Buffer {
  return hash('sha256', encodeTl(publicKeyEd25519.boxed, { key: publicKey }), 'buffer');
}

function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(-32);
}

/** Returns the Curve25519 key of an Ed25519 public key: u = (1 + y) / (1 - y). */
function curveKey(edwards: Buffer): KeyObject {
  const y = readLittleEndian(edwards) & ((1n << 255n) - 1n);
  const u = ((1n + y) * inverse((1n - y + prime) % prime)) % prime;
  const der = Buffer.concat([spkiX25519, Buffer.from(u.toString(16).padStart(64, '0'), 'hex').toReversed()]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function readLittleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`);
}

/** Returns the inverse modulo the prime, by Fermat; 0 for 0. */
function inverse(value: bigint): bigint {
  let result = 1n;
  let power = value;
  for (let exponent = prime - 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * power) % prime;
    power = (power * power) % prime;
  }
  return result;
}
