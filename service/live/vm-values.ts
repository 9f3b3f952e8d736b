// What the contracts over live need of the VM's values.
export type { StackCell, StackEntry, StackWindow } from '../tvm/stack.ts';
export { STACK_ENTRIES_MAX, cellOfSlice, sliceEntry } from '../tvm/stack.ts';
