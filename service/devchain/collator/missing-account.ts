/** Where an account is. */
export type AccountPlace = { readonly workchain: number; readonly id: Buffer };

/** A block needs an account that was not brought over from the forked network yet: it is to be made again when it was. */
export class MissingAccount extends Error {
  readonly place: AccountPlace;

  constructor(place: AccountPlace) {
    super(`account ${place.workchain}:${place.id.toString('hex')} was not brought over yet`);
    this.place = place;
  }
}
