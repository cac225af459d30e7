import { escapeXml } from '../pool/escape-xml.ts';
/** A request and the service's response. */
export interface GalleryItem {
  readonly title: string;
  readonly text: string;
  /** Path and query. */
  readonly address: string;
  readonly type: string;
  readonly bytes: number;
  /** Picture examples only: a file in the page's folder. */
  readonly file?: string;
  /** For a text response. */
  readonly content?: string;
}

const style = `
  body { font: 16px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 82rem; padding: 0 1rem;
    color: #1c1c1e; background: #f6f6f4; }
  .grid { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); }
  figure { margin: 0; padding: 1rem; background: #fff; border-radius: .6rem; overflow: hidden;
    box-shadow: 0 1px 3px #0002; }
  .stage { display: flex; align-items: center; justify-content: center; min-height: 15rem;
    background: repeating-conic-gradient(#eee 0 25%, #fff 0 50%) 0 0 / 1rem 1rem; }
  .stage img { max-width: 100%; max-height: 20rem; }
  .stage code { padding: 1rem; }
  h3 { margin: .8rem 0 .2rem; }
  p { margin: 0 0 .5rem; }
  code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
  small { color: #6b6b70; }`;

/** Text with backticks as HTML. */
const prose = (text: string): string => escapeXml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function figure({ title, text, address, type, bytes, file, content }: GalleryItem): string {
  const stage =
    file === undefined
      ? `<code>${escapeXml(content ?? '')}</code>`
      : `<img src="${escapeXml(file)}" alt="${escapeXml(title)}" loading="lazy">`;
  return `<figure id="${escapeXml(title)}">
<div class="stage">${stage}</div>
<h3>${escapeXml(title)}</h3>
<p>${prose(text)}</p>
<code>${escapeXml(address)}</code><br>
<small>${type}, ${bytes.toLocaleString('en')} bytes</small>
</figure>`;
}

export function galleryPage(sections: Readonly<Record<string, readonly GalleryItem[]>>): string {
  const body = Object.entries(sections).map(
    ([title, items]) =>
      `<h2>${escapeXml(title)}</h2>\n<div class="grid">\n${items.map(figure).join('\n')}\n</div>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Image delivery: gallery</title>
<style>${style}
</style>
<h1>What the parameters do</h1>
<p>Every picture and text here is a response of the service itself (<code>npm run docs:gallery</code>).</p>
${body.join('\n')}
</html>
`;
}
