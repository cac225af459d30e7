import { InvalidArgumentError } from 'commander';

/** A parser of numbers within bounds, for options of command lines. */
export function numberFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}
