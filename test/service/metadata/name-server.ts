import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

/** A DNS server of tests, over UDP on loopback. */
export type NameServer = {
  /** `127.0.0.1:port`. */
  readonly at: string;
  /** Requested names, one for each query. */
  readonly asked: readonly string[];
  close(): Promise<void>;
};

const [typeA, typeAaaa] = [1, 28];

/** @param addressesOf IPv4 addresses of a name, called for each query; `silent` for no answer at all */
export async function startNameServer(
  addressesOf: (name: string) => readonly string[] | 'silent',
): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    asked.push(name);
    // The server has IPv4 addresses only.
    const found = type === typeA ? addressesOf(name) : [];
    if (found !== 'silent') socket.send(answer(question.subarray(0, end), found, type === typeAaaa), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    at: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => void socket.close(() => resolve())),
  };
}

/** Reads a question (RFC 1035, section 4.1.2): labels, type, class. */
function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/**
 * Writes an answer (RFC 1035, section 4.1): the question again, and a record without a life time for each address. A name without addresses is
 * unknown.
 */
function answer(question: Buffer, addresses: readonly string[], isOtherType: boolean): Buffer {
  const head = Buffer.from(question);
  const isUnknown = addresses.length === 0 && !isOtherType;
  head.writeUInt16BE(isUnknown ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.filter(isIPv4).map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(typeA, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(4, 10);
    record.set(address.split('.').map(Number), 12);
    return record;
  });
  return Buffer.concat([head, ...records]);
}
