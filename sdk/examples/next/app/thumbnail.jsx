'use client';

import Image from 'next/image';
import { useState } from 'react';

export function Thumbnail() {
  const [isLarge, setIsLarge] = useState(false);
  const width = isLarge ? 300 : 150;
  return (
    <button type="button" onClick={() => setIsLarge(!isLarge)}>
      <Image
        src="/coast.jpg"
        alt="A thumbnail, of a client component"
        width={width}
        height={(width * 2) / 3}
        quality={75}
        loading="eager"
      />
    </button>
  );
}
