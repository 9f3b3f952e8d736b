import type { Migration } from './migration.ts';

/**
 * Messages from outside have no lt of creation. Messages to an account, with an operation or a body, are in order of their hashes. The
 * indexes did not contain the hashes. A page was cut only after all messages were read and sorted.
 */
export const messagesInOrder: Migration = {
  version: 3,
  name: 'messages in order',
  compatibleFrom: 2,
  statements: [
    'CREATE INDEX messages_by_destination_in_order ON messages (destination, created_lt, hash)',
    'CREATE INDEX messages_by_opcode_in_order ON messages (opcode, created_lt, hash)',
    'CREATE INDEX messages_by_body_hash_in_order ON messages (body_hash, created_lt, hash)',
    'DROP INDEX messages_by_destination, messages_by_opcode, messages_by_body_hash',
  ],
};
