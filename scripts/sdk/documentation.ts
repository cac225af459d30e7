/** Returns a comment for a declaration. */
export function documentation(text: string): string {
  const lines = text
    .split('\n')
    .flatMap((paragraph) => paragraph.match(/.{1,96}(?=\s|$)/g) ?? [''])
    .map((line) => line.trim());
  const [first = '', ...more] = lines;
  if (more.length === 0) return `/** ${first} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}
