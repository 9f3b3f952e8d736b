import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AdnlError } from '#service/liteserver/adnl/errors.ts';
import { createFrameDecoder, createFrameEncoder, plainFrame } from '#service/liteserver/adnl/frame.ts';
import { clientHandshake, serverHandshake } from '#service/liteserver/adnl/handshake.ts';
import { adnlIdentity, adnlKeyId } from '#service/liteserver/adnl/keys.ts';
import { golden } from './vectors.ts';

const client = adnlIdentity(golden('client_seed'));
const server = adnlIdentity(golden('server_seed'));

describe('keys, against the golden vectors', () => {
  it('keys are derived from seeds', () => {
    expect(server.publicKey).toEqual(golden('server_public'));
    expect(client.publicKey).toEqual(golden('client_public'));
    expect(adnlKeyId(server.publicKey)).toEqual(golden('server_key_id'));
  });

  it('both sides agree on the same secret', () => {
    expect(client.agree(server.publicKey)).toEqual(golden('shared_secret'));
    expect(server.agree(client.publicKey)).toEqual(golden('shared_secret'));
  });
});

describe('the handshake, against the golden vectors', () => {
  const params = golden('params_160');
  const made = clientHandshake(server.publicKey, golden('client_seed'), params);

  it('a handshake has the same 256 bytes', () => {
    expect(hash('sha256', params, 'buffer')).toEqual(golden('params_sha256'));
    expect(made.packet).toEqual(golden('handshake_packet_256'));
  });

  it('a server that has the key among others reads the handshake', () => {
    const other = adnlIdentity(Buffer.alloc(32, 5));
    const read = serverHandshake(golden('handshake_packet_256'), [other, server]);
    expect(read.identity).toBe(server);
    expect(read.clientPublicKey).toEqual(client.publicKey);
  });

  it('the streams of a handshake fit: the first frames are the same bytes on the wire', () => {
    const read = serverHandshake(golden('handshake_packet_256'), [server]);
    const greeting = createFrameEncoder(read.streams.send, () => golden('frame_nonce')).encode(Buffer.alloc(0));
    expect(plainFrame(Buffer.alloc(0), golden('frame_nonce'))).toEqual(golden('server_first_frame_plain'));
    expect(greeting).toEqual(golden('server_first_frame_wire'));

    const received: Buffer[] = [];
    createFrameDecoder(made.streams.receive, (payload) => received.push(payload)).push(greeting);
    expect(received).toEqual([Buffer.alloc(0)]);

    const ping = createFrameEncoder(made.streams.send, () => golden('frame_nonce')).encode(
      golden('client_ping_payload'),
    );
    expect(ping).toEqual(golden('client_ping_frame_wire'));
  });
});

describe('bad handshakes', () => {
  const packet = golden('handshake_packet_256');
  const changed = (at: number): Buffer => {
    const copy = Buffer.from(packet);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  };
  const smallOrder = Buffer.concat([
    packet.subarray(0, 32),
    Buffer.from(`01${'00'.repeat(31)}`, 'hex'),
    packet.subarray(64),
  ]);

  it.each([
    ['addressed to another key', changed(0)],
    ['with another client key', changed(33)],
    ['with another hash', changed(70)],
    ['with changed parameters', changed(200)],
    ['with a client key of small order', smallOrder],
  ])('a handshake is refused: %s', (_what, bytes) => {
    expect(() => serverHandshake(bytes, [server])).toThrow(AdnlError);
  });
});
