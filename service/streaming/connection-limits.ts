/** Places of connections that all pods share (service/limits/redis/connection-leases.ts). */
export type SharedLeases = {
  /** Resolves to true when the connection has a place. */
  readonly take: (request: PlaceRequest & { readonly here: number }) => Promise<boolean>;
  /** Resolves to false when another connection took the place. */
  readonly renew: (owner: string, connection: number) => Promise<boolean>;
  readonly free: (owner: string, connection: number) => void;
};

export type PlaceRequest = {
  /** Name under which connections are counted. */
  readonly owner: string;
  /** Number of the connection (request/cursor.ts). */
  readonly connection: number;
  /** Connections that the owner may have. */
  readonly max: number;
  /** Number of a connection whose place this one takes, from a cursor; undefined for none. */
  readonly replaced: number | undefined;
};

/** Counts the connections of each caller. */
export type ConnectionLimits = {
  /**
   * Resolves to true when the connection has its place. The place of `replaced` is taken if that connection is of the same owner. A connection
   * may ask again to replace another one, and is never refused then.
   * @param onReplaced called when a later connection took the place
   */
  readonly take: (request: PlaceRequest, onReplaced: () => void) => Promise<boolean>;
  /** Frees a place, also one that is still asked for. A connection without a place changes nothing. */
  readonly free: (owner: string, connection: number) => void;
  readonly close: () => void;
};

/** Milliseconds between renewals: a third of a lease, so that two may be lost. */
const RENEW_MS = 10_000;

/** Connections of an owner at this pod, with what to do when one is replaced. */
type Places = Map<number, () => void>;

/** @param leases absent: each process counts its own connections */
export function createConnectionLimits(leases?: SharedLeases): ConnectionLimits {
  /** Has at most as many entries as there are connections. */
  const byOwner = new Map<string, Places>();

  const forget = (owner: string, connection: number): boolean => {
    const places = byOwner.get(owner);
    const hadPlace = places?.delete(connection) === true;
    if (places?.size === 0) byOwner.delete(owner);
    return hadPlace;
  };

  const replace = (owner: string, connection: number): void => {
    const onReplaced = byOwner.get(owner)?.get(connection);
    if (!forget(owner, connection)) return;
    onReplaced?.();
  };

  const renew = async (owner: string, connection: number): Promise<void> => {
    if ((await leases?.renew(owner, connection)) === false) replace(owner, connection);
  };

  const timer =
    leases &&
    setInterval(() => {
      for (const [owner, places] of byOwner) for (const connection of places.keys()) void renew(owner, connection);
    }, RENEW_MS);
  timer?.unref();

  return {
    async take(request, onReplaced) {
      const { owner, connection, max, replaced } = request;
      const places: Places = byOwner.get(owner) ?? new Map<number, () => void>();
      const hasPlace = places.has(connection);
      byOwner.set(owner, places.set(connection, onReplaced));
      const isReplacing = replaced !== undefined && replaced !== connection && places.has(replaced);
      const here = places.size - (isReplacing ? 1 : 0);
      const isFree = leases === undefined ? here <= max : await leases.take({ ...request, here });
      const isGranted = isFree || hasPlace;
      const isStillWanted = byOwner.get(owner)?.has(connection) === true;
      // The caller went away while Redis was asked.
      if (isGranted && !isStillWanted) leases?.free(owner, connection);
      if (!isGranted) forget(owner, connection);
      else if (isReplacing) replace(owner, replaced);
      return isGranted && isStillWanted;
    },
    free(owner, connection) {
      if (forget(owner, connection)) leases?.free(owner, connection);
    },
    close: () => clearInterval(timer),
  };
}
