/** Work of the indexer under retry: a label of metrics. */
export type Stage = 'schema' | 'read' | 'rows' | 'write' | 'lease' | 'ranges' | 'archive' | 'progress';
