/** Work of the indexer under retry: a label of metrics. */
export type Stage = 'schema' | 'chain' | 'read' | 'rows' | 'write' | 'lease' | 'ranges' | 'archive' | 'progress';
