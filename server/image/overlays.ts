import { ServiceError } from '../../contract/errors.ts';
import type { LayerFields } from '../../store/project.ts';
import { fieldsOfKind, type LayerField } from './layer-fields.ts';
import { type Parameter, parameters } from './parameters.ts';

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

/** The parameters besides `overlay`, by name: more images, and the fields of each image's layer. */
const overlayParameters: Readonly<Record<string, Parameter<unknown>>> = Object.fromEntries(
  names.flatMap((name, index) => [
    ...(index === 0 ? [] : [another(name, names[index - 1] ?? '')]),
    ...Object.entries(fields).map(([end, field]) => partOf(name, end, field)),
  ]),
);

function another(name: string, needs: string): [string, Parameter<unknown>] {
  const meaning = `Draws another image, above \`${needs}\`.`;
  const exampleContext = `${exampleOf(needs)}&${name}.pos=northwest`;
  return [name, { ...parameters.overlay, meaning, exampleContext, needs }];
}

function exampleOf(name: string): string {
  return `${parameters.overlay.exampleContext}&${name}=${parameters.overlay.example}`;
}

function partOf(needs: string, end: string, field: string): [string, Parameter<unknown>] {
  const {
    default: byDefault,
    example,
    ...type
  } = fieldsOfKind('image')[field] as LayerField<unknown>;
  const text = byDefault == null ? null : String(byDefault);
  return [
    `${needs}.${end}`,
    {
      ...parameters.overlay,
      ...type,
      example: String(example),
      exampleContext: exampleOf(needs),
      default: text,
      defaultInWords: text === null ? '–' : `\`${text}\``,
      needs,
    },
  ];
}

/** The parameters of an image's URL by canonical name, except texts of layers and the signature. */
export const urlParameters: Readonly<Record<string, Parameter<unknown>>> = {
  ...parameters,
  ...overlayParameters,
};

/** Returns whether a query name belongs to an overlay, such as `overlay2` or `overlay.w`. */
export const isOverlayPart = (name: string): boolean => Object.hasOwn(overlayParameters, name);

/** Checks the values of overlays. @throws ServiceError parameter_invalid */
export function checkOverlayParts(query: ReadonlyMap<string, string>): void {
  for (const [name, text] of query) {
    const type = isOverlayPart(name) ? overlayParameters[name] : undefined;
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
  if (first === undefined && ![...query.keys()].some(isOverlayPart)) return [];
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
