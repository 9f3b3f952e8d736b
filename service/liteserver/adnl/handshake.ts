import type { Cipheriv } from 'node:crypto';
import { createCipheriv, hash, timingSafeEqual } from 'node:crypto';
import { AdnlError } from './errors.ts';
import type { AdnlIdentity } from './keys.ts';
import { adnlIdentity, adnlKeyId } from './keys.ts';

/** Bytes that the client sends first (service/liteserver/README.md#handshake). */
export const HANDSHAKE_BYTES = 256;

/** Random bytes from which both ends derive their keys. */
export const PARAMS_BYTES = 160;

/** The two continuous AES-256-CTR streams of a connection, seen from one side. */
export type AdnlStreams = { readonly receive: Cipheriv; readonly send: Cipheriv };

export type ClientHandshake = { readonly packet: Buffer; readonly streams: AdnlStreams };

/**
 * Makes the first 256 bytes of a connection and its streams.
 * @param seed fresh Ed25519 seed of this connection, 32 random bytes
 * @param params 160 random bytes
 */
export function clientHandshake(serverPublicKey: Buffer, seed: Buffer, params: Buffer): ClientHandshake {
  const identity = adnlIdentity(seed);
  const paramsHash = hash('sha256', params, 'buffer');
  const cipher = handshakeCipher(identity.agree(serverPublicKey), paramsHash);
  const packet = Buffer.concat([adnlKeyId(serverPublicKey), identity.publicKey, paramsHash, cipher.update(params)]);
  return { packet, streams: clientStreams(params) };
}

export type ServerHandshake = {
  readonly streams: AdnlStreams;
  /** Own key addressed by the client. */
  readonly identity: AdnlIdentity;
  readonly clientPublicKey: Buffer;
};

/**
 * Reads a client's first 256 bytes.
 * @throws AdnlError `handshake` when no own key is addressed, or the parameters fail their hash
 */
export function serverHandshake(packet: Buffer, identities: readonly AdnlIdentity[]): ServerHandshake {
  const keyId = packet.subarray(0, 32);
  const identity = identities.find((candidate) => candidate.keyId.equals(keyId));
  if (identity === undefined) throw new AdnlError('handshake', 'no own key has the addressed id');
  const clientPublicKey = Buffer.from(packet.subarray(32, 64));
  const paramsHash = packet.subarray(64, 96);
  const params = handshakeCipher(agreed(identity, clientPublicKey), paramsHash).update(packet.subarray(96, 256));
  if (!timingSafeEqual(hash('sha256', params, 'buffer'), paramsHash)) {
    throw new AdnlError('handshake', 'the parameters fail their hash');
  }
  const { receive, send } = clientStreams(params);
  return { identity, clientPublicKey, streams: { receive: send, send: receive } };
}

function agreed(identity: AdnlIdentity, clientPublicKey: Buffer): Buffer {
  try {
    return identity.agree(clientPublicKey);
  } catch (cause) {
    throw new AdnlError('handshake', 'the client key gives no shared secret', cause);
  }
}

/** CTR is its own inverse: the same stream encrypts and decrypts. */
function handshakeCipher(shared: Buffer, paramsHash: Buffer): Cipheriv {
  const key = Buffer.concat([shared.subarray(0, 16), paramsHash.subarray(16, 32)]);
  const iv = Buffer.concat([paramsHash.subarray(0, 4), shared.subarray(20, 32)]);
  return createCipheriv('aes-256-ctr', key, iv);
}

function clientStreams(params: Buffer): AdnlStreams {
  return {
    receive: createCipheriv('aes-256-ctr', params.subarray(0, 32), params.subarray(64, 80)),
    send: createCipheriv('aes-256-ctr', params.subarray(32, 64), params.subarray(80, 96)),
  };
}
