import { gravities } from '../../contract/image-terms.ts';
import { type Position, strategies } from '../../pool/variant.ts';
import { choice, type ParameterType } from './values.ts';

/** Gravities by CSS side name. */
export const sideGravities: Readonly<Record<string, Position>> = {
  top: 'north',
  right: 'east',
  bottom: 'south',
  left: 'west',
};

/** sharp's positions, as other names of its gravities; of two sides in either order. */
const spellings: Readonly<Record<string, Position>> = {
  centre: 'center',
  ...sideGravities,
  ...corner('right', 'top', 'northeast'),
  ...corner('right', 'bottom', 'southeast'),
  ...corner('left', 'bottom', 'southwest'),
  ...corner('left', 'top', 'northwest'),
};

function corner(side: string, end: string, position: Position): Record<string, Position> {
  const names = [' ', '-', '_', ','].flatMap((between) => [
    side + between + end,
    end + between + side,
  ]);
  return Object.fromEntries(names.map((name) => [name, position]));
}

/** The value of `pos`. */
export const positionName: ParameterType<Position> = choice<Position>(
  [...gravities, ...strategies],
  spellings,
);
