/** Generated from the tables of the service by `npm run docs`. */

/** A project: transform defaults and the hosts that sources may come from. */
export interface Project {
  /** `prj_` and 16 base-36 characters. */
  id: string;
  /** `org_` and 16 base-36 characters. */
  orgId: string;
  name: string;
  origin: string;
  /** Hosts; `*.example.com` allows all its subdomains. */
  allowedOrigins: readonly string[];
  color1: string;
  color2: string;
  autoFormat: boolean;
  /** 30 to 100. */
  defaultQuality: number;
  /** 1 to 3. */
  defaultDpr: number;
  defaultFit: 'contain' | 'cover' | 'fill' | 'inside' | 'outside';
  /** Device pixels; null for no limit. 0 to 10000. */
  maxWidth: number | null;
  requireSignedUrls: boolean;
  /** 60 to 2592000. */
  signedUrlTtlSeconds: number | null;
  stripMetadata: boolean;
  watermarkEnabled: boolean;
  watermarkUrl: string | null;
  watermarkPosition:
    | 'center'
    | 'north'
    | 'northeast'
    | 'east'
    | 'southeast'
    | 'south'
    | 'southwest'
    | 'west'
    | 'northwest';
  /** Percent. 1 to 100. */
  watermarkOpacity: number;
  /** Percent of the output's width. 1 to 100. */
  watermarkScale: number;
  /** CSS pixels. 0 to 500. */
  watermarkMargin: number;
  /** For display, such as `November 20, 2026` (UTC). */
  createdAt: string;
}

export interface CreateProjectInput {
  /** The name in lists; it can change at any time. 1 to 80 characters. */
  name: string;
  /** The site's http or https address; its host is allowed. At most 8192 characters. */
  origin: string;
  /** Other hosts that sources may come from; at most 1000 hosts in all. At most 1000 items. */
  allowedOrigins?: readonly string[] | undefined;
}

/** The fields to change, at least one. */
export interface UpdateProjectInput {
  /** The name in lists; it can change at any time. 1 to 80 characters. */
  name?: string | undefined;
  /** The site's http or https address; its host is allowed. At most 8192 characters. */
  origin?: string | undefined;
}

/** The configuration that an integration needs to build delivery URLs. */
export interface ProjectConfiguration {
  /** `prj_` and 16 base-36 characters. */
  projectId: string;
  projectName: string;
  origin: string;
  allowedOrigins: readonly string[];
  imageBaseUrl: string;
  /** A URI template (RFC 6570). */
  transformUrlTemplate: string;
  defaults: {
    autoFormat: boolean;
    defaultQuality: number;
    stripMetadata: boolean;
    watermarkEnabled: boolean;
  };
  watermark: {
    enabled: boolean;
    /** 0 to 500. */
    margin: number;
    /** 1 to 100. */
    opacity: number;
    position:
      | 'center'
      | 'north'
      | 'northeast'
      | 'east'
      | 'southeast'
      | 'south'
      | 'southwest'
      | 'west'
      | 'northwest';
    /** 1 to 100. */
    scale: number;
    url: string | null;
  };
  supportedParameters: readonly string[];
}

/** Transform defaults to change; the others do not change. */
export interface ProjectSettingsInput {
  /** Chooses the format by the Accept header if the URL has no `fmt`. */
  autoFormat?: boolean | undefined;
  /** Quality of images whose URL has no `q`; higher is larger. 30 to 100. */
  defaultQuality?: number | undefined;
  /** Device pixels per CSS pixel if the URL has no `dpr`. 1 to 3. */
  defaultDpr?: number | undefined;
  /** How images fit their box if the URL has no `fit`. */
  defaultFit?: 'contain' | 'cover' | 'fill' | 'inside' | 'outside' | undefined;
  /** The largest width of images, in pixels; 0 removes the limit. 0 to 10000. */
  maxWidth?: number | undefined;
  /** Removes EXIF, XMP and IPTC, such as the place where a picture was taken. */
  stripMetadata?: boolean | undefined;
  /** Draws the watermark on all images. */
  watermarkEnabled?: boolean | undefined;
  /**
   * An http or https URL of an image, which is fetched and decoded when it changes; the empty string
   * removes it. It must be empty or an absolute http or https URL. At most 8192 characters.
   */
  watermarkUrl?: string | undefined;
  /** The edge or corner of the image at which the watermark is. */
  watermarkPosition?:
    | 'center'
    | 'north'
    | 'northeast'
    | 'east'
    | 'southeast'
    | 'south'
    | 'southwest'
    | 'west'
    | 'northwest'
    | undefined;
  /** Opacity of the watermark, in percent. 1 to 100. */
  watermarkOpacity?: number | undefined;
  /** Width of the watermark, in percent of the image's. 1 to 100. */
  watermarkScale?: number | undefined;
  /** Distance of the watermark from the edges, in pixels. 0 to 500. */
  watermarkMargin?: number | undefined;
}

/**
 * Sources to warm, each in every combination of widths and formats, or in the given variants. It
 * must have src or sources. It must not have variants with widths, formats, quality, fit, dpr.
 */
export interface PrewarmInput {
  /** At most 8192 characters. */
  src?: string | undefined;
  /** URLs of the pictures. 1 to 20 items. */
  sources?: readonly string[] | undefined;
  /**
   * Widths of the images, in pixels; without widths each image is as wide as its source. 1 to 10
   * items.
   */
  widths?: readonly number[] | undefined;
  /** Formats of the images; `auto` stands for all formats that browsers may get. 1 to 5 items. */
  formats?: readonly ('auto' | 'avif' | 'webp' | 'jpeg' | 'png')[] | undefined;
  /** Quality of the images, as `q` in a URL. 30 to 100. */
  quality?: number | undefined;
  /** How the images fit their box, as `fit` in a URL. */
  fit?: 'contain' | 'cover' | 'fill' | 'inside' | undefined;
  /** Device pixels per CSS pixel, as `dpr` in a URL. 1 to 3. */
  dpr?: number | undefined;
  /**
   * Images to warm of each source, instead of widths, formats, quality, fit and dpr; at most 8192
   * characters as JSON. 1 to 50 items.
   */
  variants?: readonly PrewarmVariant[] | undefined;
  /** An http or https URL that gets a signed request at the end. At most 2048 characters. */
  callbackUrl?: string | undefined;
}

/**
 * The parameters of an image URL, by their canonical names. `dpr` is a number, because prewarming
 * has no client hints.
 */
export interface PrewarmVariant {
  /** 1 to 10000. */
  w?: number | undefined;
  /** 1 to 10000. */
  h?: number | undefined;
  ar?: ImageAr | undefined;
  q?: ImageQ | undefined;
  fmt?: ImageFmt | undefined;
  fit?: ImageFit | undefined;
  /** 1 to 3. */
  dpr?: number | undefined;
  pos?: ImagePos | undefined;
  fp?: ImageFp | undefined;
  bg?: ImageColour | undefined;
  enlarge?: ImageFlag | undefined;
  kernel?: ImageKernel | undefined;
  crop?: ImageCrop | undefined;
  trim?: ImageTrim | undefined;
  /** -360 to 360. */
  rotate?: number | undefined;
  flip?: ImageFlag | undefined;
  flop?: ImageFlag | undefined;
  extend?: ImageExtend | undefined;
  flatten?: ImageFlag | undefined;
  grayscale?: ImageFlag | undefined;
  negate?: ImageFlag | undefined;
  normalize?: ImageFlag | undefined;
  /** 1 to 3. */
  gamma?: number | undefined;
  /** 0 to 10. */
  brightness?: number | undefined;
  /** 0 to 10. */
  saturation?: number | undefined;
  /** -360 to 360. */
  hue?: number | undefined;
  /** -100 to 100. */
  lightness?: number | undefined;
  modulate?: ImageModulate | undefined;
  tint?: ImageColour | undefined;
  /** 0 to 255. */
  threshold?: number | undefined;
  /** 1 to 15. */
  median?: number | undefined;
  blur?: ImageBlur | undefined;
  sharpen?: ImageSharpen | undefined;
  /** 0 to 1. */
  opacity?: number | undefined;
  /** 0 to 99999. */
  page?: number | undefined;
  lenient?: ImageFlag | undefined;
  animated?: ImageFlag | undefined;
  lossless?: ImageFlag | undefined;
  /** 1 to 100000000. */
  maxbytes?: number | undefined;
  keep?: ImageKeep | undefined;
  icc?: ImageIcc | undefined;
  hdr?: ImageHdr | undefined;
  v?: ImageV | undefined;
  /** 1 to 40 characters. */
  preset?: string | undefined;
  layer?: ImageLayer | undefined;
  fallback?: ImageFallback | undefined;
  download?: ImageDownload | undefined;
}

export interface PrewarmReceipt {
  /** Always true. */
  accepted: boolean;
  sourceCount: number;
  variantCount: number;
}

/** What has become of a prewarm request. */
export interface PrewarmStatus {
  /** `pre_` and 16 base-36 characters. */
  id: string;
  /** `done` and `failed` are final; `failed` when at least one source failed. */
  status: 'accepted' | 'done' | 'failed';
  /** Percent. 0 to 100. */
  progress: number;
  sourceCount: number;
  variantCount: number;
  /** Numbers of sources. One that is retried waits. */
  sources: {
    waiting: number;
    running: number;
    done: number;
    failed: number;
  };
  /** The sources that failed, without those whose jobs an operator deleted. */
  failures: readonly {
    source: string;
    reason: string;
  }[];
  createdAt: string;
}

/**
 * Either sources, or all images of the project. It must have sources or all. It must not have
 * sources with all.
 */
export interface PurgeInput {
  /** URLs of the pictures that have changed. 1 to 100 items. */
  sources?: readonly string[] | undefined;
  /** All images of the project. */
  all?: true | undefined;
  /** An http or https URL that gets a signed request at the end. At most 2048 characters. */
  callbackUrl?: string | undefined;
}

export interface PurgeReceipt {
  /** Always true. */
  accepted: boolean;
  /** 0 for all images. */
  sourceCount: number;
}

/** What has become of a purge. */
export interface PurgeStatus {
  id: string;
  /**
   * `done` when the purge is in effect everywhere, after two seconds, and the purge hook, if any,
   * was called; `failed` when it could not be called for a day.
   */
  status: 'accepted' | 'done' | 'failed';
  /** 0 for all images. */
  sourceCount: number;
  hook: {
    status: 'none' | 'waiting' | 'done' | 'failed';
    /** Why the last call failed, or empty. */
    reason: string;
  };
  createdAt: string;
}

/** How the images of a project follow their sources. Ages are in seconds. */
export interface Freshness {
  /**
   * Time after which a source is asked whether it has changed; `origin` follows the origin's
   * Cache-Control, and null never asks. The operator sets bounds. It must be a whole number from 1
   * to 31536000, "origin" or null.
   */
  sourceAge: number | 'origin' | null;
  /** Time for which browsers keep an image; null for a year. 0 to 31536000. */
  browserAge: number | null;
}

/** How the images of a project follow their sources. Ages are in seconds. */
export interface FreshnessInput {
  /**
   * Time after which a source is asked whether it has changed; `origin` follows the origin's
   * Cache-Control, and null never asks. The operator sets bounds. It must be a whole number from 1
   * to 31536000, "origin" or null.
   */
  sourceAge: number | 'origin' | null;
  /** Time for which browsers keep an image; null for a year. 0 to 31536000. */
  browserAge: number | null;
}

/** The usage of a project by day, with days without requests. */
export interface Usage {
  /** UTC. */
  from: string;
  /** UTC. */
  to: string;
  days: readonly {
    /** UTC. */
    date: string;
    /** Image requests, without those of prewarming. */
    requests: number;
    /** Requests by the cache that had the image. */
    hits: {
      memory: number;
      disk: number;
      shared: number;
    };
    /** Requests that waited for a render. */
    misses: number;
    /** Requests without an image, also of clients that left. */
    errors: number;
    /** Bytes of the bodies with images. */
    bytes: number;
    /** Transforms, also those that failed. */
    renders: number;
    /** Time on transform threads. */
    renderSeconds: number;
    /** Prewarming, which is not in the other counts. */
    background: {
      requests: number;
      renders: number;
      /** Time on transform threads. */
      renderSeconds: number;
    };
  }[];
  total: {
    /** Image requests, without those of prewarming. */
    requests: number;
    /** Requests by the cache that had the image. */
    hits: {
      memory: number;
      disk: number;
      shared: number;
    };
    /** Requests that waited for a render. */
    misses: number;
    /** Requests without an image, also of clients that left. */
    errors: number;
    /** Bytes of the bodies with images. */
    bytes: number;
    /** Transforms, also those that failed. */
    renders: number;
    /** Time on transform threads. */
    renderSeconds: number;
    /** Prewarming, which is not in the other counts. */
    background: {
      requests: number;
      renders: number;
      /** Time on transform threads. */
      renderSeconds: number;
    };
  };
}

/** The most that a project may use on a day (UTC); null for no limit. */
export interface Limits {
  /** Renders, with those of prewarming. */
  rendersPerDay: number | null;
  /** Bytes of delivered images. */
  bytesPerDay: number | null;
}

/** The most that a project may use on a day (UTC); null for no limit. */
export interface LimitsInput {
  /** Renders, with those of prewarming. */
  rendersPerDay: number | null;
  /** Bytes of delivered images. */
  bytesPerDay: number | null;
}

export interface DomainInput {
  /** A bare host name; `*.example.com` allows all its subdomains. At most 255 characters. */
  host: string;
}

/** A host whose requests belong to the project. */
export interface DeliveryHost {
  /** A host name without wildcard and port. At most 255 characters. */
  host: string;
  /**
   * The URL below which the sources of the host's paths are, on an allowed host; null for the
   * project's `origin`. At most 8192 characters.
   */
  base: string | null;
  /** The service whose URLs the host reads; `native` for those of this service. */
  urls: 'native' | 'next';
  updatedAt: string;
}

export interface DeliveryHostInput {
  /**
   * The URL below which the sources of the host's paths are, on an allowed host; null for the
   * project's `origin`. At most 8192 characters.
   */
  base?: string | null | undefined;
  /** The service whose URLs the host reads; `native` for those of this service. */
  urls?: 'native' | 'next' | undefined;
}

/** How the sources of a host are fetched, without any secret. */
export interface ProjectOrigin {
  /** A host name without wildcard, with its port if it is not 443 or 80. */
  host: string;
  /** The names of the request headers, in lower case. */
  headers: readonly string[];
  /** The bucket that has the sources; null for an HTTP origin. */
  location: string | null;
  updatedAt: string;
}

/**
 * Either request headers, or a bucket. It must have headers or s3. It must not have headers with
 * s3.
 */
export interface ProjectOriginInput {
  /** Request headers by name; at most 8 KiB, with values of visible ASCII characters. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** A bucket, and credentials that may read its objects. */
  s3?:
    | {
        /**
         * `s3://bucket/prefix?region=…` of AWS, or `s3://bucket/prefix?endpoint=https://…` of another
         * service. At most 2048 characters.
         */
        location: string;
        /** Of credentials that may only read the bucket. 1 to 256 characters. */
        accessKeyId: string;
        /** The secret of the access key; it is encrypted, and never shown again. 1 to 1024 characters. */
        secretAccessKey: string;
      }
    | undefined;
}

/** Image parameters under a name. */
export interface Preset {
  /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
  name: string;
  parameters: PresetParameters;
}

/** Image parameters by their canonical names; at most 1024 characters as JSON. */
export interface PresetParameters {
  /** 1 to 10000. */
  w?: number | undefined;
  /** 1 to 10000. */
  h?: number | undefined;
  ar?: ImageAr | undefined;
  q?: ImageQ | undefined;
  fmt?: ImageFmt | undefined;
  fit?: ImageFit | undefined;
  dpr?: ImageDpr | undefined;
  pos?: ImagePos | undefined;
  fp?: ImageFp | undefined;
  bg?: ImageColour | undefined;
  enlarge?: ImageFlag | undefined;
  kernel?: ImageKernel | undefined;
  crop?: ImageCrop | undefined;
  trim?: ImageTrim | undefined;
  /** -360 to 360. */
  rotate?: number | undefined;
  flip?: ImageFlag | undefined;
  flop?: ImageFlag | undefined;
  extend?: ImageExtend | undefined;
  flatten?: ImageFlag | undefined;
  grayscale?: ImageFlag | undefined;
  negate?: ImageFlag | undefined;
  normalize?: ImageFlag | undefined;
  /** 1 to 3. */
  gamma?: number | undefined;
  /** 0 to 10. */
  brightness?: number | undefined;
  /** 0 to 10. */
  saturation?: number | undefined;
  /** -360 to 360. */
  hue?: number | undefined;
  /** -100 to 100. */
  lightness?: number | undefined;
  modulate?: ImageModulate | undefined;
  tint?: ImageColour | undefined;
  /** 0 to 255. */
  threshold?: number | undefined;
  /** 1 to 15. */
  median?: number | undefined;
  blur?: ImageBlur | undefined;
  sharpen?: ImageSharpen | undefined;
  /** 0 to 1. */
  opacity?: number | undefined;
  /** 0 to 99999. */
  page?: number | undefined;
  lenient?: ImageFlag | undefined;
  animated?: ImageFlag | undefined;
  lossless?: ImageFlag | undefined;
  /** 1 to 100000000. */
  maxbytes?: number | undefined;
  keep?: ImageKeep | undefined;
  icc?: ImageIcc | undefined;
  hdr?: ImageHdr | undefined;
  v?: ImageV | undefined;
  layer?: ImageLayer | undefined;
  fallback?: ImageFallback | undefined;
  download?: ImageDownload | undefined;
}

export interface PresetInput {
  parameters: PresetParameters;
}

/** An image or a text under a name, to draw on pictures. */
export interface Layer {
  /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
  name: string;
  image?: LayerImage | undefined;
  text?: LayerText | undefined;
}

/** An image layer; at most 4096 characters as JSON. */
export interface LayerImage {
  /**
   * http or https URL of the image, on an allowed host. Accepts an absolute http or https URL. At
   * most 8192 characters.
   */
  url: string;
  /**
   * Layer width after rotation, as a percentage of the image width. The layer is never higher than
   * the image. Accepts a whole number from 1 to 100. 1 to 100.
   */
  scale?: number | undefined;
  /**
   * Edge or corner of the image at which the layer is placed. Accepts one of center, north,
   * northeast, east, southeast, south, southwest, west, northwest.
   */
  position?: LayerPosition | undefined;
  /**
   * Distance from the left or right edge; moves centred layers to the right. CSS pixels, or a
   * percentage of the output width. Accepts a whole number from -99999 to 99999, or a number from
   * -99999 to 99999 with %, such as 10%. Default: 0.
   */
  offsetX?: LayerOffsetX | undefined;
  /**
   * Distance from the top or bottom edge; moves centred layers down. CSS pixels, or a percentage of
   * the output height. Accepts a whole number from -99999 to 99999, or a number from -99999 to
   * 99999 with %, such as 10%. Default: 0.
   */
  offsetY?: LayerOffsetX | undefined;
  /** Repeats the layer over the whole image, with the offsets as gaps. Accepts true or false. */
  tiled?: boolean | undefined;
  /** Opacity in percent. Accepts a whole number from 1 to 100. 1 to 100. */
  opacity?: number | undefined;
  /** Rotates the layer clockwise, in degrees. Accepts a number from -360 to 360. -360 to 360. */
  rotate?: number | undefined;
  /**
   * Blend mode for the layer and the image below it. Accepts one of over, multiply, screen, overlay,
   * darken, lighten, color-dodge, color-burn, hard-light, soft-light, difference, exclusion, add.
   * Default: "over".
   */
  blend?: LayerBlend | undefined;
}

/** A text layer; at most 4096 characters as JSON. */
export interface LayerText {
  /**
   * Text to draw, unless the URL replaces it. Accepts a text of at most 500 characters, without
   * control characters other than line feeds. At most 500 characters.
   */
  words?: string | undefined;
  /**
   * Allows unsigned URLs to replace the text. Anyone can then put text on the project's images.
   * Accepts true or false.
   */
  freeText?: boolean | undefined;
  /** Font family. Accepts a family of the service's fonts, such as Open Sans. */
  font?: string | undefined;
  /**
   * http or https URL of a TTF, OTF or WOFF2 file, on an allowed host. Overrides `font`. Accepts an
   * absolute http or https URL. At most 8192 characters.
   */
  fontUrl?: string | undefined;
  /** Font weight: 400 is regular, 700 is bold. Accepts a whole number from 100 to 900. 100 to 900. */
  weight?: number | undefined;
  /**
   * Font size in CSS pixels, or a percentage of the output width. `fit` is the largest size at which
   * the text fits the box. Accepts a whole number from 1 to 1000, or a number from 1 to 100 with %,
   * such as 10%, or fit. Default: 32.
   */
  size?: LayerSize | undefined;
  /**
   * Box width as a percentage of the image width. Longer lines wrap. Accepts a whole number from 1
   * to 100. 1 to 100.
   */
  width?: number | undefined;
  /** Box height as a percentage of the image height. Accepts a whole number from 1 to 100. 1 to 100. */
  height?: number | undefined;
  /** Text colour. Accepts hex digits without # (3, 4, 6 or 8), or a CSS colour name. */
  color?: ImageColour | undefined;
  /** Colour behind the text. Accepts hex digits without # (3, 4, 6 or 8), or a CSS colour name. */
  background?: ImageColour | undefined;
  /**
   * Space between the text and the edges of its background. CSS pixels, or a percentage of the
   * output width. Accepts a whole number from 0 to 500, or a number from 0 to 50 with %, such as
   * 10%. Default: 0.
   */
  padding?: LayerPadding | undefined;
  /** Line alignment. Accepts one of left, center, right. */
  align?: LayerAlign | undefined;
  /**
   * Maximum lines; longer text ends with an ellipsis. `0` means no limit. Accepts a whole number
   * from 0 to 100. 0 to 100.
   */
  maxLines?: number | undefined;
  /**
   * Edge or corner of the image at which the layer is placed. Accepts one of center, north,
   * northeast, east, southeast, south, southwest, west, northwest.
   */
  position?: LayerPosition | undefined;
  /**
   * Distance from the left or right edge; moves centred layers to the right. CSS pixels, or a
   * percentage of the output width. Accepts a whole number from -99999 to 99999, or a number from
   * -99999 to 99999 with %, such as 10%. Default: 0.
   */
  offsetX?: LayerOffsetX | undefined;
  /**
   * Distance from the top or bottom edge; moves centred layers down. CSS pixels, or a percentage of
   * the output height. Accepts a whole number from -99999 to 99999, or a number from -99999 to
   * 99999 with %, such as 10%. Default: 0.
   */
  offsetY?: LayerOffsetX | undefined;
  /** Repeats the layer over the whole image, with the offsets as gaps. Accepts true or false. */
  tiled?: boolean | undefined;
  /** Opacity in percent. Accepts a whole number from 1 to 100. 1 to 100. */
  opacity?: number | undefined;
  /** Rotates the layer clockwise, in degrees. Accepts a number from -360 to 360. -360 to 360. */
  rotate?: number | undefined;
  /**
   * Blend mode for the layer and the image below it. Accepts one of over, multiply, screen, overlay,
   * darken, lighten, color-dodge, color-burn, hard-light, soft-light, difference, exclusion, add.
   * Default: "over".
   */
  blend?: LayerBlend | undefined;
}

/** Either an image or a text. It must have image or text. It must not have image with text. */
export interface LayerInput {
  image?: LayerImage | undefined;
  text?: LayerText | undefined;
}

/** An API key of one project, without its secret. */
export interface ProjectKey {
  /** `key_` and 16 base-36 characters. */
  id: string;
  name: string;
  access: 'read' | 'write';
  createdAt: string;
  /** Null for a valid key. */
  revokedAt: string | null;
}

export interface ProjectKeyInput {
  /** Who uses it. 1 to 80 characters. */
  name: string;
  /** Whether it may change the project, which is the default. */
  access?: 'read' | 'write' | undefined;
}

/** An API key of one project. No operation returns its secret again. */
export interface NewProjectKey {
  /** `key_` and 16 base-36 characters. */
  id: string;
  name: string;
  access: 'read' | 'write';
  createdAt: string;
  /** Null for a valid key. */
  revokedAt: string | null;
  /** `sk_` and 43 base64url characters. */
  secret: string;
}

/** How a project signs its image URLs, without its secrets. */
export interface Signing {
  /** Whether image URLs need a signature. */
  required: boolean;
  /** The longest time until a URL expires, in seconds; null for no limit. 60 to 2592000. */
  ttlSeconds: number | null;
  /** Valid secrets: 2 while one is being replaced. 0 to 2. */
  secretCount: number;
}

export interface SigningSecretInput {
  /**
   * The longest time until a URL expires, in seconds; null for no limit. Only for the first secret,
   * or with replaceAll. 60 to 2592000.
   */
  ttlSeconds?: number | null | undefined;
  /**
   * Ends the secrets before at once, with the URLs that they have signed. Otherwise the last one
   * stays valid until it is revoked.
   */
  replaceAll?: boolean | undefined;
}

/** A secret that signs URLs. No operation returns it again. */
export interface NewSigningSecret {
  /** Whether image URLs need a signature. */
  required: boolean;
  /** The longest time until a URL expires, in seconds; null for no limit. 60 to 2592000. */
  ttlSeconds: number | null;
  /** Valid secrets: 2 while one is being replaced. 0 to 2. */
  secretCount: number;
  secret: string;
}

export interface SignedUrlInput {
  /**
   * An image URL of the project, its path and query from `/img` on, or a URL of a delivery host. At
   * most 8192 characters.
   */
  url: string;
  /** Seconds; by default the ttlSeconds of the project, or an hour. 1 to 2592000. */
  validFor?: number | undefined;
}

export interface SignedUrl {
  /** The given one, with `exp` and `sig`. */
  url: string;
  expiresAt: string;
}

/** The request that tells a client the end of its prewarming or purge. */
export interface Callback {
  /** The `webhook-id` of the request. */
  id: string;
  subject: 'prewarm' | 'purge';
  /** The id of the prewarming or purge. */
  callId: string;
  /** Without its query, which may have a secret. */
  url: string;
  /** `waiting` for the end of the call, or for the next attempt; `done` and `failed` are final. */
  status: 'waiting' | 'done' | 'failed';
  /** Attempts that failed. */
  failureCount: number;
  /** Why the last attempt failed; null if it did not. */
  reason: string | null;
  createdAt: string;
  /** The end of the last attempt; null before the first one. */
  endedAt: string | null;
}

/** What a report of a fault names. */
export interface ServiceVersion {
  /** The version of the service, not of this interface. */
  service: string;
  /** The version of Node.js. */
  node: string;
  /** The system and the architecture. */
  platform: string;
}

/** Monitors rely on `ok`, `status`, `checks.database.ok` and the HTTP status. */
export interface HealthStatus {
  ok: boolean;
  service?: string | undefined;
  status?: 'ok' | 'degraded' | 'unavailable' | 'draining' | undefined;
  /** Why the status is not `ok`. */
  reason?: string | undefined;
  timestamp?: string | undefined;
  uptimeSeconds?: number | undefined;
  store?: 'available' | 'unavailable' | undefined;
  checks?:
    | {
        cache?:
          | {
              /** Bytes. */
              diskSizeBytes?: number | undefined;
              /** Bytes. */
              diskMaxBytes?: number | undefined;
              /** Bytes. */
              memorySizeBytes?: number | undefined;
              /** Bytes. */
              memoryMaxBytes?: number | undefined;
              status?: 'ok' | 'disk_full' | undefined;
            }
          | undefined;
        database?:
          | {
              ok?: boolean | undefined;
              /** Milliseconds. */
              latencyMs?: number | undefined;
            }
          | undefined;
        projects?:
          | {
              /** Projects that are served without the store. */
              known?: number | undefined;
              /** Since the store last confirmed them. */
              ageSeconds?: number | null | undefined;
              /**
               * With `slow`, the store takes so long that images wait until their project is confirmed; with
               * `unavailable`, projects are served as they were last confirmed.
               */
              status?: 'ok' | 'slow' | 'unavailable' | undefined;
            }
          | undefined;
        /** The fields except `status` are null while the store is unavailable. */
        prewarmQueue?:
          | {
              active?: number | null | undefined;
              waiting?: number | null | undefined;
              delayed?: number | null | undefined;
              queued?: number | null | undefined;
              failed?: number | null | undefined;
              /**
               * When a worker last took jobs, by the store's clock; null if none ever has. Workers record it
               * every 5 seconds.
               */
              workerSeenAt?: string | null | undefined;
              /**
               * With `no_worker`, no worker has been seen for 30 seconds: prewarming and webhooks wait. With
               * `backlogged`, a job that is due has waited for more than a minute.
               */
              status?: 'ok' | 'no_worker' | 'backlogged' | 'unknown' | undefined;
            }
          | undefined;
        transformQueue?:
          | {
              active?: number | undefined;
              queued?: number | undefined;
              concurrency?: number | undefined;
              maxQueue?: number | undefined;
              rejected?: number | undefined;
              /** Threads that were terminated but still run. */
              stuck?: number | undefined;
              status?: 'ok' | 'busy' | 'saturated' | undefined;
            }
          | undefined;
        /** Fetches of sources, and the sources in memory. */
        sources?:
          | {
              fetching?: number | undefined;
              concurrency?: number | undefined;
              rejected?: number | undefined;
              /** Bytes. */
              heldBytes?: number | undefined;
              /** Bytes. */
              heldMaxBytes?: number | undefined;
              heldRejected?: number | undefined;
              /** The source formats that this installation supports. */
              formats?: readonly string[] | undefined;
            }
          | undefined;
      }
    | undefined;
  /** Milliseconds. */
  latencyMs?: number | undefined;
}

export interface Liveness {
  ok: boolean;
  status: 'ok';
}

export interface Readiness {
  ready: boolean;
  status: 'ready' | 'starting' | 'draining';
}

/**
 * Facts about the source, and about the output of the same request without `fmt`. Those about
 * pixels are of the output.
 */
export interface ImageFacts {
  /** The source. */
  source: {
    /** Format, such as `jpeg`. */
    format: string;
    /** Of one frame, upright. */
    width: number;
    /** Of one frame, upright. */
    height: number;
    /** Size of the file. */
    bytes: number;
    /** Pages, or frames of an animation. */
    pages: number;
    /** Frames of an animation, also of one that is not read; 1 if it is none. */
    frames: number;
    /** True if it has transparency. */
    hasAlpha: boolean;
    /** EXIF orientation of the stored pixels; 1 is upright. 1 to 8. */
    orientation: number;
    /**
     * Name of the colour profile, such as `Display P3`; null if it has none, or none with a name. At
     * most 80 characters.
     */
    profile: string | null;
  };
  /** The image of the same request without `fmt`. */
  output: {
    /** Format, such as `webp`. */
    format: string;
    /** Of one frame. */
    width: number;
    /** Of one frame. */
    height: number;
    /** Size of the file. */
    bytes: number;
  };
  /** The colour that covers the largest area; null when the image is fully transparent. */
  dominant: string | null;
  /**
   * Colours that represent the image, by descending share; the dominant one is among them. Fewer
   * than five for an image with few colours. At most 5 items.
   */
  palette: readonly {
    /** As `#rrggbb`. */
    color: string;
    /** Part of the opaque area that is nearest to it. 0 to 1. */
    share: number;
  }[];
  /** Where `pos=attention` centres a square: a value for `fp`. */
  focus: {
    /** Fraction of the width. 0 to 1. */
    x: number;
    /** Fraction of the height. 0 to 1. */
    y: number;
  };
  /** pHash, 64 bits in hexadecimal digits: similar images differ in few bits. */
  perceptualHash: string;
  /**
   * Fields of the EXIF that the image of the same request without `fmt` has. Empty if the project
   * strips metadata; only `artist` and `copyright` with `keep=copyright`.
   */
  exif: {
    /** Maker of the camera. At most 500 characters. */
    cameraMake?: string | undefined;
    /** Model of the camera. At most 500 characters. */
    cameraModel?: string | undefined;
    /** Model of the lens. At most 500 characters. */
    lens?: string | undefined;
    /** Program that wrote the image. At most 500 characters. */
    software?: string | undefined;
    /** When the picture was taken, in the local time of the camera, with its offset from UTC if known. */
    takenAt?: string | undefined;
    /** In seconds. */
    exposureTime?: number | undefined;
    /** F-number. */
    fNumber?: number | undefined;
    /** ISO sensitivity. */
    iso?: number | undefined;
    /** In millimetres. */
    focalLength?: number | undefined;
    /** Title or description. At most 500 characters. */
    description?: string | undefined;
    /** Author. At most 500 characters. */
    artist?: string | undefined;
    /** Copyright notice. At most 500 characters. */
    copyright?: string | undefined;
    /** In degrees, north is positive. -90 to 90. */
    latitude?: number | undefined;
    /** In degrees, east is positive. -180 to 180. */
    longitude?: number | undefined;
  };
}

export type ImageColour = string;

export type LayerPosition =
  | 'center'
  | 'north'
  | 'northeast'
  | 'east'
  | 'southeast'
  | 'south'
  | 'southwest'
  | 'west'
  | 'northwest';

export type LayerOffsetX = number | string;

export type LayerBlend = string;

export type LayerSize = number | string;

export type LayerPadding = number | string;

export type LayerAlign = 'left' | 'center' | 'right';

export type ImageAr = number | string;

export type ImageQ = number | 'auto';

export type ImageFmt =
  | 'auto'
  | 'avif'
  | 'webp'
  | 'jpeg'
  | 'png'
  | 'gif'
  | 'jxl'
  | 'blurhash'
  | 'thumbhash'
  | 'lqip'
  | 'json'
  | 'jpg';

export type ImageFit = 'contain' | 'cover' | 'fill' | 'inside' | 'outside';

export type ImageDpr = number | 'auto';

export type ImagePos = string;

export type ImageFp = string;

export type ImageFlag = boolean | '' | '1' | '0';

export type ImageKernel =
  | 'nearest'
  | 'linear'
  | 'cubic'
  | 'mitchell'
  | 'lanczos2'
  | 'lanczos3'
  | 'mks2013'
  | 'mks2021';

export type ImageCrop = string;

export type ImageTrim = boolean | number | '' | '1' | '0';

export type ImageExtend = string;

export type ImageModulate = string;

export type ImageBlur = boolean | number | '' | '1' | '0';

export type ImageSharpen = boolean | number | '' | '1' | '0';

export type ImageKeep = 'copyright';

export type ImageIcc = 'keep';

export type ImageHdr = 'keep';

export type ImageV = string;

export type ImageLayer = string;

/** At most 8192 characters. */
export type ImageFallback = string;

/** 1 to 200 characters. */
export type ImageDownload = string;

/** The body of every error. */
export interface ApiError {
  /** Kept for existing SDK versions. */
  error: string;
  /** Stable. */
  code:
    | 'invalid_request'
    | 'source_missing'
    | 'project_missing'
    | 'source_invalid'
    | 'parameter_invalid'
    | 'api_key_missing'
    | 'api_key_invalid'
    | 'workbench_unauthorized'
    | 'product_access_required'
    | 'project_forbidden'
    | 'root_key_required'
    | 'write_access_required'
    | 'source_not_allowed'
    | 'source_blocked'
    | 'source_unauthorized'
    | 'source_forbidden'
    | 'host_not_allowed'
    | 'origin_not_allowed'
    | 'signature_invalid'
    | 'layer_text_not_signed'
    | 'workbench_forbidden'
    | 'project_not_found'
    | 'preset_not_found'
    | 'layer_not_found'
    | 'host_not_found'
    | 'purge_not_found'
    | 'prewarm_not_found'
    | 'endpoint_not_found'
    | 'source_not_found'
    | 'method_not_allowed'
    | 'request_timeout'
    | 'host_taken'
    | 'prewarm_in_progress'
    | 'source_too_large'
    | 'source_unsupported'
    | 'range_not_satisfiable'
    | 'source_corrupt'
    | 'rate_limited'
    | 'callback_queue_full'
    | 'prewarm_queue_full'
    | 'usage_limit_reached'
    | 'source_rate_limited'
    | 'headers_too_large'
    | 'internal_error'
    | 'source_unreachable'
    | 'overloaded'
    | 'store_unavailable'
    | 'source_timeout'
    | 'transform_timeout';
  message: string;
  /** A safe next step. */
  resolution_hint: string;
}

/** What each operation of the control plane takes, and the value in the body of its response. */
export interface Operations {
  /**
   * List projects. The projects that the key can access: its project, or for an all-project key all
   * projects of its organisation. Without `limit` and `cursor` all of them, by date of creation, in
   * at most 16 MB, which are some 25,000 projects; with one of them a page, in the order of the
   * ids.
   */
  listProjects: {
    path: undefined;
    query: undefined;
    body: undefined;
    result: readonly Project[];
  };
  /** Create a project. Requires an all-project write key. */
  createProject: {
    path: undefined;
    query: undefined;
    body: CreateProjectInput;
    result: Project;
  };
  /** Read a project. The project, if the key is authorised for it. */
  getProject: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: Project;
  };
  /**
   * Change the name or the site. Changes the sent fields, at least one. The host of a new site is
   * allowed; that of the old one stays allowed until it is removed.
   */
  updateProject: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: UpdateProjectInput;
    result: Project;
  };
  /**
   * Delete a project. Deletes the project with its keys, hosts, presets, layers, private origins,
   * signing secrets, waiting callbacks, usage and cached images. At most 2 seconds later every
   * process that reaches the store answers 404 to its image URLs. It cannot be undone, and a
   * repeated call is answered with 404. Refused while prewarming waits or runs, unless `force`
   * cancels it.
   */
  deleteProject: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: {
      /** true also deletes a project whose prewarming waits or runs. */
      force?: boolean | undefined;
    };
    body: undefined;
    result: undefined;
  };
  /**
   * Read the delivery configuration. Delivery URLs, transform defaults, the source allowlist and the
   * supported parameters; no secrets.
   */
  getProjectConfiguration: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: ProjectConfiguration;
  };
  /** Update transform defaults. Changes the sent defaults, at least one. */
  updateProjectSettings: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: ProjectSettingsInput;
    result: Project;
  };
  /**
   * Queue prewarming. Queues all combinations of sources, widths and formats, or of sources and
   * variants, for asynchronous work. Nothing is queued if a source fails the allowlist or address
   * checks, or if the queue is full. The response's `Location` is the path of the progress, and its
   * last segment is the `prewarmId`.
   */
  prewarmProjectImages: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: PrewarmInput;
    result: PrewarmReceipt;
  };
  /**
   * Read the progress of prewarming. The status of a prewarm request of the last day. The id is the
   * last segment of the `Location` of its response. A project remembers the last 1,000.
   */
  getProjectPrewarm: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** `pre_` and 16 base-36 characters. */
      prewarmId: string;
    };
    query: undefined;
    body: undefined;
    result: PrewarmStatus;
  };
  /**
   * Purge images. Purges the cached images of sources, or all images of the project. At most 2
   * seconds later no process that reaches the store serves an image made from bytes that were
   * fetched before. Sources are purged by the URL that image URLs name, not by one to which it
   * redirects. The URL of the watermark purges the images with it. The response's `Location` is the
   * path of the progress, and its last segment is the `purgeId`.
   */
  purgeProjectImages: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: PurgeInput;
    result: PurgeReceipt;
  };
  /**
   * Read the progress of a purge. The status of a purge of the last day. The id is the last segment
   * of the `Location` of its response. A project remembers the last 1,000.
   */
  getProjectPurge: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      purgeId: string;
    };
    query: undefined;
    body: undefined;
    result: PurgeStatus;
  };
  /**
   * Read how images follow their sources. Both ages are null for a project whose images do not
   * change.
   */
  getProjectFreshness: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: Freshness;
  };
  /**
   * Set how images follow their sources. After the source age an image is still served, and its
   * source is asked in the background whether it has changed. The browser age is sent to browsers,
   * and the rest of the source age to CDNs.
   */
  putProjectFreshness: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: FreshnessInput;
    result: Freshness;
  };
  /**
   * Read the usage by day. Requests, bytes and renders of the project on each day (UTC), of the last
   * 30 days by default. It is at most a minute behind. As CSV with `format=csv` or `Accept:
   * text/csv`.
   */
  getProjectUsage: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: {
      /** The first day (UTC); 29 days before the last one by default. */
      from?: string | undefined;
      /** The last day, today by default; at most 400 days in all. */
      to?: string | undefined;
      /** Takes precedence over the Accept header. */
      format?: 'json' | 'csv' | undefined;
    };
    body: undefined;
    result: Usage;
  };
  /** Read the limits of a day. Both are null for a project without limits. */
  getProjectLimits: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: Limits;
  };
  /**
   * Set the limits of a day. Requires a root key. Beyond a limit, requests that need a render get
   * 429 `usage_limit_reached` until the next day (UTC), and cached images are delivered. Each
   * further process may exceed the limit of renders by one render, or by a hundredth of the limit
   * if that is more.
   */
  putProjectLimits: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: LimitsInput;
    result: Limits;
  };
  /**
   * Allow a source host. Adds a normalised public host name to the allowlist; adding an existing
   * host is not an error.
   */
  addProjectDomain: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: DomainInput;
    result: Project;
  };
  /**
   * Remove a source host. Removes a host from the allowlist; removing a missing host is not an
   * error. The host is in the query, which takes precedence, or in the body.
   */
  removeProjectDomain: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: {
      /** The host to remove; takes precedence over the body. At most 255 characters. */
      host?: string | undefined;
    };
    body: DomainInput | undefined;
    result: Project;
  };
  /** List delivery hosts. The hosts whose requests belong to the project, by name. */
  listProjectHosts: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly DeliveryHost[];
  };
  /** Read a delivery host. Where the sources of the host are. */
  getProjectHost: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard and port. At most 255 characters. */
      host: string;
    };
    query: undefined;
    body: undefined;
    result: DeliveryHost;
  };
  /**
   * Create or replace a delivery host. Requires a root key. Requests for the host belong to the
   * project within two seconds: their path is that of the source below `base`. A host belongs to
   * one project.
   */
  putProjectHost: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard and port. At most 255 characters. */
      host: string;
    };
    query: undefined;
    body: DeliveryHostInput;
    result: DeliveryHost;
  };
  /**
   * Delete a delivery host. Requires a root key. Returns the remaining hosts; deleting a missing one
   * is not an error. Requests for the host fail afterwards.
   */
  deleteProjectHost: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard and port. At most 255 characters. */
      host: string;
    };
    query: undefined;
    body: undefined;
    result: readonly DeliveryHost[];
  };
  /**
   * List private origins. The hosts whose sources need headers or are in a bucket, without any
   * secret.
   */
  listProjectOrigins: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly ProjectOrigin[];
  };
  /**
   * Create or replace a private origin. Sets the request headers for the sources of a host, or the
   * bucket that has them. They are encrypted, and no operation returns them. The host must be on
   * the allowlist to be used. Cached images do not change.
   */
  putProjectOrigin: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard, with its port if it is not 443 or 80. */
      host: string;
    };
    query: undefined;
    body: ProjectOriginInput;
    result: ProjectOrigin;
  };
  /**
   * Delete a private origin. Returns the remaining origins; deleting a missing one is not an error.
   * The sources of the host are fetched without headers afterwards.
   */
  deleteProjectOrigin: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard, with its port if it is not 443 or 80. */
      host: string;
    };
    query: undefined;
    body: undefined;
    result: readonly ProjectOrigin[];
  };
  /** List presets. The presets of the project, by name. */
  listProjectPresets: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Preset[];
  };
  /** Read a preset. The parameters of `preset` in image URLs of the project. */
  getProjectPreset: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
      presetName: string;
    };
    query: undefined;
    body: undefined;
    result: Preset;
  };
  /**
   * Create or replace a preset. Accepts the parameters of image URLs, by the same rules. Image URLs
   * with the preset change at once.
   */
  putProjectPreset: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
      presetName: string;
    };
    query: undefined;
    body: PresetInput;
    result: Preset;
  };
  /**
   * Delete a preset. Returns the remaining presets; deleting a missing preset is not an error. Image
   * URLs with the preset fail afterwards.
   */
  deleteProjectPreset: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
      presetName: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Preset[];
  };
  /** List layers. The layers of the project, by name. */
  listProjectLayers: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Layer[];
  };
  /** Read a layer. What `layer` in image URLs of the project draws. */
  getProjectLayer: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
      layerName: string;
    };
    query: undefined;
    body: undefined;
    result: Layer;
  };
  /**
   * Create or replace a layer. An image on an allowed host, or a text. Fields that are not given
   * have their defaults. Image URLs with the layer change at once.
   */
  putProjectLayer: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
      layerName: string;
    };
    query: undefined;
    body: LayerInput;
    result: Layer;
  };
  /**
   * Delete a layer. Returns the remaining layers; deleting a missing layer is not an error. Image
   * URLs with the layer fail afterwards.
   */
  deleteProjectLayer: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, and up to 39 lower-case letters, digits, - and _. */
      layerName: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Layer[];
  };
  /**
   * List the keys of a project. The keys that are limited to this project, also revoked ones, by
   * their ids. Requires a key for all projects.
   */
  listProjectKeys: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly ProjectKey[];
  };
  /**
   * Create a key of a project. Returns the secret, once. A project has at most 100 valid keys.
   * Requires a write key for all projects.
   */
  createProjectKey: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: ProjectKeyInput;
    result: NewProjectKey;
  };
  /**
   * Revoke a key of a project. Takes effect within two seconds, and returns the keys of the project.
   * Revoking a missing key is not an error. Requires a write key for all projects.
   */
  revokeProjectKey: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** `key_` and 16 base-36 characters. */
      keyId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly ProjectKey[];
  };
  /** Read whether image URLs need signatures. Without any secret. Requires a key for all projects. */
  getProjectSigning: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: Signing;
  };
  /**
   * Require signatures, or replace the secret. Returns a new secret, once. With the first one the
   * project accepts signed URLs only, within two seconds. With another one both are valid until the
   * previous one is revoked. Requires a write key for all projects.
   */
  createSigningSecret: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: SigningSecretInput | undefined;
    result: NewSigningSecret;
  };
  /**
   * Revoke the secret before the last one. URLs that were signed with it are refused within two
   * seconds. Without such a secret nothing changes. Requires a write key for all projects.
   */
  revokePreviousSigningSecret: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: Signing;
  };
  /**
   * Accept image URLs without a signature. Deletes the secrets. Requires a write key for all
   * projects.
   */
  stopRequiringSignatures: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: Signing;
  };
  /**
   * Sign an image URL. With the current secret. For one URL, such as in a console; a backend signs
   * its URLs itself. Requires a write key for all projects.
   */
  signProjectUrl: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: SignedUrlInput;
    result: SignedUrl;
  };
  /**
   * List the last callbacks. The last 50 requests to a `callbackUrl` of the project, the newest
   * first. The queue keeps those that have ended for a while.
   */
  listProjectCallbacks: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Callback[];
  };
  /** Read the version of the service. For holders of a key only: no other response tells it. */
  getServiceVersion: {
    path: undefined;
    query: undefined;
    body: undefined;
    result: ServiceVersion;
  };
}
