/** Reason of each condition about pods of the API, where `replicas` is 0. Part of the API. */
export const zeroReplicas = 'ZeroReplicas';

const message = 'replicas is 0: no pod of the API runs, and nothing is served';

/** A condition about pods of the API, where none is wanted. */
export const withoutReplicas = { status: 'False', reason: zeroReplicas, message } as const;

/** Ready of a TonApi without pods of the API, as its author wants. */
export const readyWithoutReplicas = { ...withoutReplicas, type: 'Ready', status: 'True' } as const;
