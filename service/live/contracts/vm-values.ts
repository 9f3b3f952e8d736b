// Values of the VM, for contract stages above live.
export type { StackCell, StackEntry, StackWindow } from '#service/tvm/stack.ts';
export { STACK_ENTRIES_MAX, cellOfSlice, sliceEntry } from '#service/tvm/stack.ts';
