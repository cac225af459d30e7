import { ServiceError } from '../../contract/errors.ts';
import type { LayerFields } from '../../store/project.ts';
import { fieldsOfKind } from './layer-fields.ts';
import { sourceReference } from './source-url.ts';
import type { ParameterType } from './values.ts';

/** An image that a URL draws over its image. */
export interface Overlay {
  /** `overlay`, or `overlay2` to `overlay4`. */
  readonly name: string;
  /** A URL, or a path on the project's origin. */
  readonly source: string;
  /** Fields of its layer. */
  readonly fields: LayerFields;
}

const names = ['overlay', 'overlay2', 'overlay3', 'overlay4'];

/** A layer's fields, by the end of their parameter. */
const fields: Readonly<Record<string, string>> = {
  w: 'width',
  h: 'height',
  pos: 'position',
  x: 'offsetX',
  y: 'offsetY',
  opacity: 'opacity',
  radius: 'radius',
};

const types = fieldsOfKind('image');

/** The parameters besides `overlay`, with the types of their values. */
const overlayTypes = new Map<string, ParameterType<unknown> | undefined>(
  names.flatMap((name, index) => [
    ...(index === 0 ? [] : [[name, sourceReference] as const]),
    ...Object.entries(fields).map(([end, field]) => [`${name}.${end}`, types[field]] as const),
  ]),
);

/** Returns whether a query name belongs to an overlay, such as `overlay2` or `overlay.w`. */
export const isOverlayPart = (name: string): boolean => overlayTypes.has(name);

/** Checks the values of overlays. @throws ServiceError parameter_invalid */
export function checkOverlayParts(query: ReadonlyMap<string, string>): void {
  for (const [name, text] of query) {
    const type = overlayTypes.get(name);
    if (type === undefined || type.parse(text) !== undefined) continue;
    throw new ServiceError('parameter_invalid', `${name} must be ${type.accepts}.`);
  }
}

/**
 * Returns a query's overlays, in order.
 * @param first the source of `overlay`
 * @throws ServiceError parameter_invalid
 */
export function readOverlays(
  query: ReadonlyMap<string, string>,
  first: string | undefined,
): readonly Overlay[] {
  return names.flatMap((name) => {
    const source = query.get(name) ?? (name === names[0] ? first : undefined);
    const given = Object.entries(fields).flatMap(([end, field]) => {
      const text = query.get(`${name}.${end}`);
      return text === undefined ? [] : [[field, text] as const];
    });
    if (source !== undefined) return [{ name, source, fields: Object.fromEntries(given) }];
    if (given.length === 0) return [];
    throw new ServiceError('parameter_invalid', `${name}.… needs an image in ${name}.`);
  });
}
