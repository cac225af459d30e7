import { breakpoints, transform } from '@image-delivery/sdk/unpic';
import { Image } from '@unpic/react/base';
import { createRoot } from 'react-dom/client';

const {
  IMAGES_URL = 'http://localhost:3000',
  IMAGES_PROJECT = 'prj_32gx1acb9wtykf3m',
  IMAGES_ORIGIN = 'http://127.0.0.1:8000',
  IMAGES_MAX_WIDTH = '0',
} = import.meta.env;
const maxWidth = Number(IMAGES_MAX_WIDTH);
const options = { baseUrl: IMAGES_URL, project: IMAGES_PROJECT, origin: IMAGES_ORIGIN };

createRoot(document.getElementById('root')).render(
  <>
    <Image
      src="/landscape.jpg"
      alt="A hero"
      layout="fullWidth"
      aspectRatio={16 / 9}
      transformer={transform}
      options={options}
      breakpoints={breakpoints({ sourceWidth: 2725, sourceHeight: 2225, maxWidth })}
    />
    <Image
      src="/coast.jpg"
      alt="A thumbnail"
      width={300}
      height={200}
      transformer={transform}
      options={options}
      breakpoints={breakpoints({ sourceWidth: 2160, sourceHeight: 1440, maxWidth })}
    />
    <Image
      src="/pulse.gif"
      alt="A small source"
      layout="constrained"
      width={420}
      height={420}
      transformer={transform}
      options={options}
      breakpoints={breakpoints({ sourceWidth: 420, sourceHeight: 420, maxWidth })}
    />
  </>,
);
