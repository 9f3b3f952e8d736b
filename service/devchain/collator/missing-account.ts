/** Workchain and id of an account. */
export type AccountPlace = { readonly workchain: number; readonly id: Buffer };

/** A block needs an account that was not fetched from the forked network yet. Make the block again after the fetch. */
export class MissingAccount extends Error {
  readonly place: AccountPlace;

  constructor(place: AccountPlace) {
    super(`account ${place.workchain}:${place.id.toString('hex')} was not brought over yet`);
    this.place = place;
  }
}
