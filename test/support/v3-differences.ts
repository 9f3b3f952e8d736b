import type { KnownDifference } from './v2-differences.ts';

/** Differences between our generated document of v3 and the published one that are meant, found by their places. */
export const knownV3Differences: readonly KnownDifference[] = [
  { at: /^\/healthcheck: nothing instead/, why: 'the page is in the document of v2, and its text is JSON there' },
  {
    at: /balanceChanges get .* properties extra_currencies: .* instead of nothing/,
    why: 'a trace may move extra currencies too; the field is there when it does',
  },
  { at: / x-beyond-seed: /, why: 'a note for tools, no part of what is asked or answered' },
  {
    at: / responses (400|405|413|503): .* instead of nothing/,
    why: 'nothing named, a wrong method, a body too large, and an index or lite servers that are away are told as what they are',
  },
  {
    at: / responses (404|409): nothing instead of /,
    why: 'only operations that answer so say so',
  },
  {
    at: / responses [45]\d\d headers: .* instead of nothing/,
    why: 'failures have the version and the time in their headers as well',
  },
  {
    at: / responses [45]\d\d content \S+ schema (required|properties error minLength): /,
    why: 'failures always have all three fields, so that clients of either kind read them',
  },
  {
    at: /[mM]asterchainBlock\w* get parameters seqno required: /,
    why: 'a seqno that is left out or no number is told as 404, as one that is not indexed',
  },
  {
    at: / (description|transactions items) .* required: /,
    why: 'what is always there is said to be always there',
  },
  { at: / description properties bounce properties type type: /, why: 'a bounce always has a type' },
  {
    at: / account_state_(before|after) anyOf /,
    why: 'code and data of states are never sent with transactions',
  },
  {
    at: / parameters \w+ schema (items )?(pattern|minLength|minimum): /,
    why: 'the document says which texts are taken, and that what is required is not empty',
  },
  {
    at: / parameters ((exclude|only)_externals|check_whitelist|include_(accounts|transactions)) schema default: /,
    why: 'a flag that is left out is false',
  },
  {
    at: /^\/api\/v3\/pendingTraces get responses 200 .* (traces type|traces items (required|properties|additionalProperties)): /,
    why: 'no pending trace is an empty list, and one is described as any trace is',
  },
  {
    at: /^\/api\/v3\/pendingTransactions get (parameters account required|responses 200 .* transactions type): /,
    why: 'a trace may be asked for in place of an account, and no transaction is an empty list',
  },
  { at: / stack items additionalProperties: false/, why: 'entries of a stack have a type and a value' },
  { at: / maxItems: \d+ instead of nothing/, why: 'lists are bounded' },
  { at: / required: \[\] instead of nothing/, why: 'an object whose fields may all be left out' },
  {
    at: / post parameters(: | X-)/,
    why: 'the settings of a request are headers of every operation',
  },
  {
    at: / requestBody .* (pattern|default|minLength|maxItems|type): /,
    why: 'what is refused or filled in is written there; lists of decode are bounded in its own words',
  },
  {
    at: /runGetMethod post requestBody .* properties (seqno: |stack items (required: |properties (type enum|@type): ))/,
    why: 'a run may be at a block, and takes tuples, lists and null, and the forms of runGetMethodStd',
  },
  { at: /runGetMethod post responses 533: /, why: 'a stack may be nested too deep to be written' },
  { at: /decode \w+ responses 200 .* bodies items /, why: 'a body that cannot be decoded is an object of its own' },
  {
    at: / (accounts|wallets) items properties status /,
    why: 'a status is one of four words',
  },
  {
    at: / actions items allOf \d+ then properties details (properties (value_)?extra_currencies |required: .*extra_currencies|anyOf )/,
    why: 'currencies besides TON are always an object',
  },
  {
    at: / actions items allOf \d+ then properties details (required: .*"key"|properties key: )/,
    why: 'the key of a deleted record stands under its own name as well',
  },
  {
    at: / (parameters cursor|headers X-Next-Cursor): .* instead of nothing/,
    why: 'lists go on behind a cursor',
  },
  {
    at: / properties trace (required|properties (children|transaction|in_msg))/,
    why: 'children are always a list, nodes always name their transaction, which stands beside the tree',
  },
  {
    at: /^\/api\/v3\/(jetton|nft)\/(transfers|burns) get parameters address: /,
    why: 'the older name of the owner is read, and is in the document',
  },
  {
    at: /^\/api\/v3\/(jetton|nft)\/transfers get parameters direction schema enum: /,
    why: '`both` asks for what is given without it',
  },
  {
    at: /^\/api\/v3\/jetton\/wallets get parameters sort schema default: /,
    why: 'wallets are as they were first seen unless an order of balances is given',
  },
  {
    at: /^\/api\/v3\/nft\/sales get responses 200 .* nft_sales items allOf: /,
    why: 'details are shown as the index holds them, by the type of the sale',
  },
];
