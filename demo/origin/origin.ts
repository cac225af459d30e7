import { type BodyServer, serveBodies } from './bodies.ts';
import { isPictureName, picture, pictureNames, pictures, toMediaType } from './pictures.ts';

/** Serves the sample images at `/<name>`, and a page that shows them at `/`. */
export function startSampleOrigin(port = 0): Promise<BodyServer> {
  return serveBodies(async (target) => {
    const [path = ''] = target.split('?', 1);
    const name = path.slice(1);
    if (name === '') return { type: 'text/html; charset=utf-8', body: Buffer.from(indexPage()) };
    if (!isPictureName(name)) return undefined;
    return { type: toMediaType(name), body: await picture(name) };
  }, port);
}

function indexPage(): string {
  const figures = pictureNames.map(
    (name) => `<figure><a href="/${name}"><img src="/${name}" alt="${pictures[name]}"></a>
<figcaption>${name}: ${pictures[name]}</figcaption></figure>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sample origin</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; display: flex; flex-wrap: wrap; }
img { height: 15rem; max-width: 100%; }
</style>
${figures.join('\n')}
</html>
`;
}
