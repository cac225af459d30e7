import { pictureNames, pictures } from './pictures.ts';

/** The origin's front page: every picture with its name, size and kind, as a complete HTML document. */
export function indexPage(): string {
  const cards = pictureNames.map((name) => {
    const { type, width, height, caption } = pictures[name];
    return `<a class="card" href="/${name}">
  <img src="/${name}" width="${width}" height="${height}" alt="${caption}" loading="lazy">
  <h2>${name}</h2>
  <p>${caption}</p>
  <small>${width} &times; ${height} &middot; ${type}</small>
</a>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sample origin</title>
<link rel="icon" href="/emblem.svg">
<style>
  :root { color-scheme: dark; font: 16px/1.5 system-ui, sans-serif; }
  body { margin: 0; color: #e8e6f0; background: linear-gradient(#131a3a, #2b1d3d 60%, #3d2336) fixed; }
  header, main { max-width: 76rem; margin: auto; padding: 2rem 1.5rem; }
  header { padding-bottom: 0; }
  h1 { margin: 0; font-weight: 300; font-size: 2.4rem; letter-spacing: .02em; }
  header p { margin: .25rem 0 0; color: #b3adc9; }
  main { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); }
  .card { overflow: hidden; padding-bottom: 1rem; border-radius: 14px; color: inherit;
    text-decoration: none; background: #ffffff0d; box-shadow: 0 6px 24px #0005; transition: .2s; }
  .card:hover, .card:focus-visible { transform: translateY(-3px); background: #ffffff1a; }
  .card img { display: block; width: 100%; height: 15rem; object-fit: cover; }
  .card img[src$=".png"], .card img[src$=".svg"], .card img[src$=".gif"] { object-fit: contain; background: #0b1026; }
  .card h2 { margin: .9rem 1rem 0; font-size: 1.05rem; font-weight: 600; }
  .card p { margin: .1rem 1rem; color: #cbc5dd; }
  .card small { margin: 0 1rem; color: #948db0; }
</style>
</head>
<body>
<header>
  <h1>Sample origin</h1>
  <p>${pictureNames.length} generated pictures.</p>
</header>
<main>
${cards.join('\n')}
</main>
</body>
</html>
`;
}
