/** Maximum decimals in a text: programs often print every decimal of a float. */
export const maxDecimals = 20;
const zeros = `(?:\\.0{1,${maxDecimals}})?`;
const fraction = `(?:\\.[0-9]{1,${maxDecimals}})?`;

/** Numbers from 0, 1 or minus the maximum; the maximum is whole. */
interface Range {
  readonly minimum: number;
  readonly maximum: number;
  readonly whole: boolean;
}

/**
 * Returns the source of a pattern for a range's decimal texts, with up to three leading zeros. It
 * is valid in all regular expression dialects, from ECMA-262 to RE2.
 */
export function decimalPattern({ minimum, maximum, whole }: Range): string {
  const positive = minimum > 0;
  const digits = String(maximum);
  // First the numbers with a smaller digit than the maximum's, then those with fewer digits.
  const sameLength = [...digits].flatMap((digit, index) => {
    const least = index === 0 && (positive || digits.length > 1) ? 1 : 0;
    const most = Number(digit) - 1;
    if (most < least) return [];
    return `${digits.slice(0, index)}[${least}-${most}]${anyDigits(digits.length - index - 1)}`;
  });
  const shorter = [...digits].slice(1).map((_, length) => {
    if (length > 0 || positive) return `[1-9]${anyDigits(length)}`;
    return '[0-9]';
  });
  const below = [...shorter, ...sameLength].map((integer) => integer + (whole ? zeros : fraction));
  const all = `0{0,3}(?:${[...below, `${digits}${zeros}`].join('|')})`;
  if (minimum < 0) return `-?${all}`;
  return positive ? all : `(?:-0${zeros}|${all})`;
}

const anyDigits = (count: number): string => (count === 0 ? '' : `[0-9]{${count}}`);
