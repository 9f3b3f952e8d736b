import { now, type Container } from './process-kubelet-container.ts';

/** Returns a function that renders the current `status` of a pod. @param address of the pod, `10.244.a.b` */
export function createPodStatus(address: string, containers: readonly Container[]): () => object {
  const transitions = new Map<string, { status: string; at: string }>();
  const startTime = now();

  /** The time of a transition stays until the next: `minReadySeconds` counts from it. */
  function condition(type: string, holds: boolean): object {
    const value = holds ? 'True' : 'False';
    const last = transitions.get(type);
    const at = last?.status === value ? last.at : now();
    transitions.set(type, { status: value, at });
    return { type, status: value, lastTransitionTime: at };
  }

  return () => {
    const ready = containers.every((container) => container.ready);
    const results = containers.map(({ result }) => result);
    const over = results.every((result) => result !== undefined);
    const started = over || containers.some(({ pid }) => pid !== undefined) || transitions.has('started');
    if (started) transitions.set('started', { status: 'True', at: '' });
    const phase = !started
      ? 'Pending'
      : !over
        ? 'Running'
        : results.every((code) => code === 0)
          ? 'Succeeded'
          : 'Failed';
    return {
      phase,
      podIP: address,
      podIPs: [{ ip: address }],
      hostIP: '10.0.0.10',
      hostIPs: [{ ip: '10.0.0.10' }],
      startTime,
      conditions: [
        condition('PodScheduled', true),
        condition('PodReadyToStartContainers', true),
        condition('Initialized', true),
        condition('ContainersReady', ready),
        condition('Ready', ready),
      ],
      containerStatuses: containers.map((container) => container.status()),
    };
  };
}
