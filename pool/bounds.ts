/** Maximum pixels per side and per frame of an output. */
export const maxSide = 10_000;
export const maxFramePixels = 40_000_000;

/** Maximum rows of all frames. libvips stacks frames in one image, with this maximum height. */
export const maxRows = 10_000_000;
