import type { ComponentChildren } from 'preact';
import type { Loaded } from './load-image.ts';

export interface EditorProps {
  /** The image under the handles. */
  readonly picture: Loaded;
  /** The parameter's text, or ''. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

interface EditorFrameProps extends Pick<EditorProps, 'picture'> {
  readonly alt: string;
  readonly children: ComponentChildren;
}

/** An image as large as the box permits, with handles in fractions of its sides. */
export function EditorFrame({ picture, alt, children }: EditorFrameProps) {
  const ratio = picture.width / picture.height;
  const frame = { aspectRatio: String(ratio), maxWidth: `calc(var(--inner) * ${ratio})` };
  return (
    <figure class="frame" style={frame}>
      <img src={picture.url ?? ''} alt={alt} draggable={false} />
      {children}
    </figure>
  );
}
