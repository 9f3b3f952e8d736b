import { bytes, int256, long } from './codec.ts';
import { record } from './record.ts';

// Payloads of ADNL frames (service/liteserver/README.md#payloads-of-frames).

export const ping = record('tcp.ping', 'tcp.Pong', { randomId: long });
export const pong = record('tcp.pong', 'tcp.Pong', { randomId: long });

export const query = record('adnl.message.query', 'adnl.Message', { queryId: int256, query: bytes });
export const answer = record('adnl.message.answer', 'adnl.Message', { queryId: int256, answer: bytes });

export const authenticate = record('tcp.authentificate', 'tcp.Message', { nonce: bytes });
export const authenticationNonce = record('tcp.authentificationNonce', 'tcp.Message', { nonce: bytes });

/** Ed25519 public key. The SHA-256 of its boxed bytes is the key's id (service/liteserver/README.md#handshake). */
export const publicKeyEd25519 = record('pub.ed25519', 'PublicKey', { key: int256 });

export const authenticationComplete = record('tcp.authentificationComplete', 'tcp.Message', {
  key: publicKeyEd25519.boxed,
  signature: bytes,
});
