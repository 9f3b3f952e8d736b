import { useEffect, useRef, useState } from 'preact/hooks';

import { useApplication } from './context.ts';

/** An event of a stream (service/streaming/README.md). */
export type StreamEvent = {
  readonly type?: string;
  readonly finality?: string;
  readonly reason?: string;
  readonly [name: string]: unknown;
};

export type StreamState = 'off' | 'connecting' | 'open' | 'refused';

/**
 * Subscribes to live events while the part is on the page. The browser connects again by itself and resumes at the last event.
 * @param subscription fields of the subscription; undefined: the part wants no stream
 * @returns undefined without a subscription
 */
export function useStream(
  subscription: Readonly<Record<string, string | readonly string[]>> | undefined,
  onEvent: (event: StreamEvent) => void,
): StreamState | undefined {
  const { api, settings } = useApplication();
  const [state, setState] = useState<StreamState>('connecting');
  const handler = useRef(onEvent);
  handler.current = onEvent;
  const served = settings.surfaces.includes('stream');
  const key = subscription === undefined || !served ? '' : JSON.stringify(subscription);

  useEffect(() => {
    if (key === '') return undefined;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(JSON.parse(key) as Record<string, string | string[]>)) {
      for (const one of [value].flat()) query.append(name, one);
    }
    setState('connecting');
    const source = new EventSource(api.streamUrl('/api/streaming/v2/sse', query));
    source.addEventListener('open', () => setState('open'));
    source.addEventListener('error', () =>
      setState(source.readyState === EventSource.CLOSED ? 'refused' : 'connecting'),
    );
    source.addEventListener('message', ({ data }: MessageEvent<string>) => {
      handler.current(JSON.parse(data) as StreamEvent);
    });
    return () => source.close();
  }, [key, api]);
  if (subscription === undefined) return undefined;
  return served ? state : 'off';
}
