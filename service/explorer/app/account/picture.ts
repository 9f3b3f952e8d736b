import { html } from '../html.ts';

/** Characters of a picture inside of its metadata. */
const PICTURE_MAX = 200_000;

/**
 * Address of a picture that the page may show; undefined for every other picture. The page loads nothing from other origins, and no SVG:
 * the pictures of contracts are their authors' choice.
 */
export function pictureSource(image: unknown): string | undefined {
  if (typeof image !== 'string' || image.length > PICTURE_MAX) return undefined;
  return /^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$/.test(image) ? image : undefined;
}

/** The picture of a token where the page may show it. */
export function Picture({ image, name }: { readonly image: unknown; readonly name: string }) {
  const source = pictureSource(image);
  return source === undefined ? null : html`<img class="picture" src=${source} alt=${name} loading="lazy" />`;
}
