const bytes: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };
const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * What to write instead of a number with a unit, such as `10GB`, or with separators; '' for other values.
 *
 * @param isAccepted whether the setting accepts a value
 */
export function unitHint(
  variable: string,
  text: string,
  isAccepted: (text: string) => boolean,
): string {
  const [, digits = '', unit = ''] =
    /^(\d{1,3}(?:[,_ ]\d{3})+|\d{1,15}(?:\.\d{1,6})?) ?([a-z]{0,3})$/i.exec(text) ?? [];
  if (digits === '') return '';
  const amount = Number(digits.replaceAll(/[,_ ]/g, ''));
  const values = possibleValues(variable, amount, unit.toLowerCase()).filter(([, value]) =>
    isAccepted(String(value)),
  );
  if (values.length === 0) return '';
  const written = values.map(([name, value]) =>
    name === '' ? value : `${value} for ${amount} ${name}`,
  );
  return `; write it as ${written.join(', or ')}`;
}

/** Returns the numbers that an amount with a unit can stand for, each with its unit's name. */
function possibleValues(
  variable: string,
  amount: number,
  unit: string,
): [name: string, value: number][] {
  if (unit === '') return [['', amount]];
  if (/_BYTES$/.test(variable)) {
    const [, prefix = '', binary] = /^([kmgt])(i)?b?$/.exec(unit) ?? [];
    const power = bytes[prefix];
    if (power === undefined) return [];
    const upper = prefix.toUpperCase();
    const value = (base: number) => Math.round(amount * base ** power);
    const decimal: [string, number][] = binary ? [] : [[`${upper}B`, value(1_000)]];
    return [...decimal, [`${upper}iB`, value(1_024)]];
  }
  const length = milliseconds[unit];
  if (length === undefined) return [];
  if (/_MS$/.test(variable)) return [['', amount * length]];
  return /_SECONDS$/.test(variable) ? [['', (amount * length) / 1_000]] : [];
}
