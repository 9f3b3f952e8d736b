/** A call of the emulation that a pasted text stands for. */
export type EmulationCall =
  | { readonly operation: 'emulateTrace'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly operation: 'emulateTonConnect'; readonly body: Readonly<Record<string, unknown>> };

/** Reason why a text is no call. */
export type Misread = { readonly problem: 'empty' | 'json' | 'messages' | 'from' | 'form' };

/** Parts of the answer that the picture needs. */
const wanted = { with_actions: true, include_address_book: true, include_metadata: true } as const;

/**
 * Reads a bag of cells (base64 or hexadecimal), or a TON Connect request as wallets get it. The request is the transaction itself, or a
 * JSON-RPC call whose first parameter is the transaction as text.
 * @param from address of the wallet, for a request that names none; empty: none
 */
export function emulationCallOf(text: string, from: string, ignoreSignatures: boolean): EmulationCall | Misread {
  const trimmed = text.trim();
  if (trimmed === '') return { problem: 'empty' };
  if (trimmed.startsWith('{')) return tonConnectCall(trimmed, from.trim());
  const boc = trimmed.replaceAll(/\s+/g, '');
  if (!/^[0-9A-Za-z+/_=-]+$/.test(boc)) return { problem: 'form' };
  return { operation: 'emulateTrace', body: { boc, ignore_chksig: ignoreSignatures, ...wanted } };
}

type Request = {
  readonly from?: unknown;
  readonly valid_until?: unknown;
  readonly messages?: unknown;
};

function tonConnectCall(text: string, from: string): EmulationCall | Misread {
  const given = objectOf(text);
  if (given === undefined) return { problem: 'json' };
  const [first] = Array.isArray(given['params']) ? (given['params'] as unknown[]) : [];
  const request: Request | undefined = typeof first === 'string' ? objectOf(first) : given;
  if (request === undefined || !Array.isArray(request.messages)) return { problem: 'messages' };
  const sender = typeof request.from === 'string' && request.from !== '' ? request.from : from;
  if (sender === '') return { problem: 'from' };
  const { valid_until, messages } = request;
  return {
    operation: 'emulateTonConnect',
    body: {
      from: sender,
      messages: messages as unknown[],
      ...(valid_until !== undefined && { valid_until }),
      ...wanted,
    },
  };
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
