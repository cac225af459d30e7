import Image from 'next/image';
import { Thumbnail } from './thumbnail.jsx';

export default function Page() {
  return (
    <>
      <Image
        src="/landscape.jpg"
        alt="A hero, of a server component"
        width={2725}
        height={2225}
        sizes="100vw"
        loading="eager"
        style={{ width: '100%', height: 'auto' }}
      />
      <Thumbnail />
      <Image src="/pulse.gif" alt="A small source" width={420} height={420} loading="eager" />
    </>
  );
}
