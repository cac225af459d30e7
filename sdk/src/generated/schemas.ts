/** Generated from the tables of the service by `npm run docs`. */

/** A project: transform defaults and allowed source hosts. */
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
  /** Percentage of the output width. 1 to 100. */
  watermarkScale: number;
  /** CSS pixels. 0 to 500. */
  watermarkMargin: number;
  /** For display, such as `November 20, 2026` (UTC). */
  createdAt: string;
}

export interface CreateProjectInput {
  /** Display name; you can change it at any time. 1 to 80 characters. */
  name: string;
  /** The site's http or https URL. Its host is added to the allowlist. At most 8192 characters. */
  origin: string;
  /** More allowed source hosts; at most 1000 hosts in total. At most 1000 items. */
  allowedOrigins?: readonly string[] | undefined;
}

/** The fields to change: at least one. */
export interface UpdateProjectInput {
  /** Display name; you can change it at any time. 1 to 80 characters. */
  name?: string | undefined;
  /** The site's http or https URL. Its host is added to the allowlist. At most 8192 characters. */
  origin?: string | undefined;
}

/** Configuration for integrations that build delivery URLs. */
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

/** Transform defaults to change; all others stay the same. */
export interface ProjectSettingsInput {
  /** Choose the format from the Accept header if the URL has no `fmt`. */
  autoFormat?: boolean | undefined;
  /** Quality if the URL has no `q`. Higher values make larger files. 30 to 100. */
  defaultQuality?: number | undefined;
  /** Device pixels per CSS pixel if the URL has no `dpr`. 1 to 3. */
  defaultDpr?: number | undefined;
  /** Fit to the box if the URL has no `fit`. */
  defaultFit?: 'contain' | 'cover' | 'fill' | 'inside' | 'outside' | undefined;
  /** Maximum image width in pixels; 0 removes the limit. 0 to 10000. */
  maxWidth?: number | undefined;
  /** Remove EXIF, XMP and IPTC metadata, such as the location of a photo. */
  stripMetadata?: boolean | undefined;
  /** Draw the watermark on all images. */
  watermarkEnabled?: boolean | undefined;
  /**
   * http or https URL of an image. The service fetches and decodes a new URL before accepting it. An
   * empty string removes the watermark. It must be empty or an absolute http or https URL. At most
   * 8192 characters.
   */
  watermarkUrl?: string | undefined;
  /** Edge or corner of the image for the watermark. */
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
  /** Watermark opacity in percent. 1 to 100. */
  watermarkOpacity?: number | undefined;
  /** Watermark width as a percentage of the image width. 1 to 100. */
  watermarkScale?: number | undefined;
  /** Distance between the watermark and the image edges, in pixels. 0 to 500. */
  watermarkMargin?: number | undefined;
}

/**
 * Sources to prewarm, each in every combination of widths and formats, or in the given variants.
 * It must have src or sources. It must not have variants with widths, formats, quality, fit, dpr.
 */
export interface PrewarmInput {
  /** At most 8192 characters. */
  src?: string | undefined;
  /** Source URLs. 1 to 20 items. */
  sources?: readonly string[] | undefined;
  /** Image widths in pixels. Without widths, each image is as wide as its source. 1 to 10 items. */
  widths?: readonly number[] | undefined;
  /** Image formats; `auto` means every format that browsers can receive. 1 to 5 items. */
  formats?: readonly ('auto' | 'avif' | 'webp' | 'jpeg' | 'png')[] | undefined;
  /** Image quality, like `q` in a URL. 30 to 100. */
  quality?: number | undefined;
  /** Fit to the box, like `fit` in a URL. */
  fit?: 'contain' | 'cover' | 'fill' | 'inside' | undefined;
  /** Device pixels per CSS pixel, like `dpr` in a URL. 1 to 3. */
  dpr?: number | undefined;
  /**
   * Images to prewarm per source, instead of widths, formats, quality, fit and dpr; at most 8192
   * characters as JSON. 1 to 50 items.
   */
  variants?: readonly PrewarmVariant[] | undefined;
  /** http or https URL that receives a signed request when the work ends. At most 2048 characters. */
  callbackUrl?: string | undefined;
}

/**
 * Image URL parameters by canonical name. `dpr` is a number because prewarming has no client
 * hints.
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
  enlarge?: ImageEnlarge | undefined;
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

/** Status of a prewarm request. */
export interface PrewarmStatus {
  /** `pre_` and 16 base-36 characters. */
  id: string;
  /** `done` and `failed` are final; `failed` means that at least one source failed. */
  status: 'accepted' | 'done' | 'failed';
  /** Percent. 0 to 100. */
  progress: number;
  sourceCount: number;
  variantCount: number;
  /** Source counts. Sources to be retried count as waiting. */
  sources: {
    waiting: number;
    running: number;
    done: number;
    failed: number;
  };
  /** Failed sources, except sources whose jobs an operator deleted. */
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
  /** URLs of the changed sources. 1 to 100 items. */
  sources?: readonly string[] | undefined;
  /** All images of the project. */
  all?: true | undefined;
  /** http or https URL that receives a signed request when the work ends. At most 2048 characters. */
  callbackUrl?: string | undefined;
}

export interface PurgeReceipt {
  /** Always true. */
  accepted: boolean;
  /** 0 for all images. */
  sourceCount: number;
}

/** Status of a purge. */
export interface PurgeStatus {
  id: string;
  /**
   * `done` once the purge is in effect everywhere (after two seconds) and any purge hook was called;
   * `failed` if the hook could not be called for a day.
   */
  status: 'accepted' | 'done' | 'failed';
  /** 0 for all images. */
  sourceCount: number;
  hook: {
    status: 'none' | 'waiting' | 'done' | 'failed';
    /** Why the last call failed; empty if it succeeded. */
    reason: string;
  };
  createdAt: string;
}

/** How a project's images follow their sources. Ages are in seconds. */
export interface Freshness {
  /**
   * Seconds until the service revalidates a source; null for never. `origin` follows the origin's
   * Cache-Control. The operator sets bounds. It must be a whole number from 1 to 31536000, "origin"
   * or null.
   */
  sourceAge: number | 'origin' | null;
  /** Seconds that browsers keep an image; null for a year. 0 to 31536000. */
  browserAge: number | null;
}

/** How a project's images follow their sources. Ages are in seconds. */
export interface FreshnessInput {
  /**
   * Seconds until the service revalidates a source; null for never. `origin` follows the origin's
   * Cache-Control. The operator sets bounds. It must be a whole number from 1 to 31536000, "origin"
   * or null.
   */
  sourceAge: number | 'origin' | null;
  /** Seconds that browsers keep an image; null for a year. 0 to 31536000. */
  browserAge: number | null;
}

/** A project's usage per day, including days without requests. */
export interface Usage {
  /** UTC. */
  from: string;
  /** UTC. */
  to: string;
  days: readonly {
    /** UTC. */
    date: string;
    /** Image requests, except prewarming. */
    requests: number;
    /** Requests by the cache that contained the image. */
    hits: {
      memory: number;
      disk: number;
      shared: number;
    };
    /** Requests that waited for a render. */
    misses: number;
    /** Requests that returned no image, including client disconnects. */
    errors: number;
    /** Bytes of image bodies. */
    bytes: number;
    /** Transforms, including failed transforms. */
    renders: number;
    /** Time on transform threads. */
    renderSeconds: number;
    /** Prewarming, not included in the other counts. */
    background: {
      requests: number;
      renders: number;
      /** Time on transform threads. */
      renderSeconds: number;
    };
  }[];
  total: {
    /** Image requests, except prewarming. */
    requests: number;
    /** Requests by the cache that contained the image. */
    hits: {
      memory: number;
      disk: number;
      shared: number;
    };
    /** Requests that waited for a render. */
    misses: number;
    /** Requests that returned no image, including client disconnects. */
    errors: number;
    /** Bytes of image bodies. */
    bytes: number;
    /** Transforms, including failed transforms. */
    renders: number;
    /** Time on transform threads. */
    renderSeconds: number;
    /** Prewarming, not included in the other counts. */
    background: {
      requests: number;
      renders: number;
      /** Time on transform threads. */
      renderSeconds: number;
    };
  };
}

/** The requests of a project in the last hour and day. */
export interface Top {
  hour: {
    /** First counted minute, up to 10 minutes before the hour or an hour before the day. */
    from: string;
    /** Image requests, except prewarming. */
    requests: number;
    /** Requests by the cache that contained the image. */
    hits: {
      memory: number;
      disk: number;
      shared: number;
    };
    /** Requests that waited for a render. */
    misses: number;
    /** Requests without an image. */
    errors: number;
    /** Each cache's share of the requests that returned an image; null if there were no requests. */
    hitRatio: {
      /** 0 to 1. */
      memory: number | null;
      /** 0 to 1. */
      disk: number | null;
      /** 0 to 1. */
      shared: number | null;
    };
    /** Time of misses in ms, accurate to 8%; null if there were no requests. */
    missMs: {
      p50: number | null;
      p95: number | null;
    };
    /** Requests without a valid signature, even if the project requires no signatures. */
    unsigned: number;
    /** Bytes of delivered images. */
    bytes: number;
    /** Source bytes of the delivered images with a known source size. */
    originalBytes: number;
    /** `originalBytes` minus the bytes of the images delivered instead. */
    bytesSaved: number;
    /** The most requested sources, without secrets. */
    sources: readonly {
      source: string;
      /** Number of requests; a lower bound. */
      requests: number;
    }[];
    /** The most requested sets of parameters; empty for an image without any. */
    variants: readonly {
      variant: string;
      /** Number of requests; a lower bound. */
      requests: number;
    }[];
  };
  day: {
    /** First counted minute, up to 10 minutes before the hour or an hour before the day. */
    from: string;
    /** Image requests, except prewarming. */
    requests: number;
    /** Requests by the cache that contained the image. */
    hits: {
      memory: number;
      disk: number;
      shared: number;
    };
    /** Requests that waited for a render. */
    misses: number;
    /** Requests without an image. */
    errors: number;
    /** Each cache's share of the requests that returned an image; null if there were no requests. */
    hitRatio: {
      /** 0 to 1. */
      memory: number | null;
      /** 0 to 1. */
      disk: number | null;
      /** 0 to 1. */
      shared: number | null;
    };
    /** Time of misses in ms, accurate to 8%; null if there were no requests. */
    missMs: {
      p50: number | null;
      p95: number | null;
    };
    /** Requests without a valid signature, even if the project requires no signatures. */
    unsigned: number;
    /** Bytes of delivered images. */
    bytes: number;
    /** Source bytes of the delivered images with a known source size. */
    originalBytes: number;
    /** `originalBytes` minus the bytes of the images delivered instead. */
    bytesSaved: number;
    /** The most requested sources, without secrets. */
    sources: readonly {
      source: string;
      /** Number of requests; a lower bound. */
      requests: number;
    }[];
    /** The most requested sets of parameters; empty for an image without any. */
    variants: readonly {
      variant: string;
      /** Number of requests; a lower bound. */
      requests: number;
    }[];
  };
}

/** Requests that failed in the same way. */
export interface ImageFailure {
  /** Time of the last failure. */
  at: string;
  /** The code of the error. */
  code: string;
  /** 400 to 599. */
  status: number;
  /** Source URL, without secrets; empty if the request does not name a source. */
  source: string;
  /** The path and the parameters of the image, without secrets. */
  url: string;
  /** Number of failed requests; a lower bound. */
  count: number;
  /** The last error's message, cut after 200 characters; empty if it could quote a secret. */
  message: string;
  /** The next step. */
  hint: string;
  /** The last request's `x-request-id`, which its log line and trace contain. */
  requestId: string;
}

/** A project's maximum usage per day (UTC); null for no limit. */
export interface Limits {
  /** Renders, including prewarming. */
  rendersPerDay: number | null;
  /** Bytes of delivered images. */
  bytesPerDay: number | null;
}

/** A project's maximum usage per day (UTC); null for no limit. */
export interface LimitsInput {
  /** Renders, including prewarming. */
  rendersPerDay: number | null;
  /** Bytes of delivered images. */
  bytesPerDay: number | null;
}

export interface DomainInput {
  /** A bare host name; `*.example.com` allows all its subdomains. At most 255 characters. */
  host: string;
}

/** A host that serves the project's images. */
export interface DeliveryHost {
  /** A host name without wildcard or port. At most 255 characters. */
  host: string;
  /**
   * Base URL of the host's sources, on an allowed host; null for the project's `origin`. At most
   * 8192 characters.
   */
  base: string | null;
  /** URL format that the host accepts: the name of another service, or `native`. */
  urls: 'native' | 'cloudflare' | 'cloudinary' | 'iiif' | 'imgix' | 'imgproxy' | 'next' | 'thumbor';
  updatedAt: string;
}

export interface DeliveryHostInput {
  /**
   * Base URL of the host's sources, on an allowed host; null for the project's `origin`. At most
   * 8192 characters.
   */
  base?: string | null | undefined;
  /** URL format that the host accepts: the name of another service, or `native`. */
  urls?:
    | 'native'
    | 'cloudflare'
    | 'cloudinary'
    | 'iiif'
    | 'imgix'
    | 'imgproxy'
    | 'next'
    | 'thumbor'
    | undefined;
}

/** How the service fetches a host's sources; contains no secrets. */
export interface ProjectOrigin {
  /** A host name without wildcard, with its port unless it is 443 or 80. */
  host: string;
  /** Names of the request headers, in lower case. */
  headers: readonly string[];
  /** Bucket that contains the sources; null for an HTTP origin. */
  location: string | null;
  updatedAt: string;
}

/**
 * Either request headers, or a bucket. It must have headers or s3. It must not have headers with
 * s3.
 */
export interface ProjectOriginInput {
  /** Request headers by name. At most 8 KiB; values consist of visible ASCII characters. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** A bucket, and credentials that can read its objects. */
  s3?:
    | {
        /**
         * `s3://bucket/prefix?region=…` for AWS, or `s3://bucket/prefix?endpoint=https://…` for another
         * service. At most 2048 characters.
         */
        location: string;
        /** Access key id of credentials with read-only access to the bucket. 1 to 256 characters. */
        accessKeyId: string;
        /** Secret access key. It is encrypted and never shown again. 1 to 1024 characters. */
        secretAccessKey: string;
      }
    | undefined;
}

/** A named set of image parameters. */
export interface Preset {
  /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
  name: string;
  parameters: PresetParameters;
}

/** Image parameters by canonical name; at most 1024 characters as JSON. */
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
  enlarge?: ImageEnlarge | undefined;
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

/** A named image or text that is drawn on images. */
export interface Layer {
  /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
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
   * Edge or corner of the image for the layer. Accepts one of center, north, northeast, east,
   * southeast, south, southwest, west, northwest.
   */
  position?: LayerPosition | undefined;
  /**
   * Distance from the left or right edge, in CSS pixels or percent of the output width; moves
   * centred layers to the right. Accepts a whole number from -99999 to 99999, or a number from
   * -99999 to 99999 with %, such as 10%. Default: 0.
   */
  offsetX?: LayerOffsetX | undefined;
  /**
   * Distance from the top or bottom edge, in CSS pixels or percent of the output height; moves
   * centred layers down. Accepts a whole number from -99999 to 99999, or a number from -99999 to
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
   * Font size, in CSS pixels or percent of the output width; `fit` is the largest size that fits the
   * box. Accepts a whole number from 1 to 1000, or a number from 1 to 100 with %, such as 10%, or
   * fit. Default: 32.
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
   * Space between the text and the edges of its background, in CSS pixels or percent of the output
   * width. Accepts a whole number from 0 to 500, or a number from 0 to 50 with %, such as 10%.
   * Default: 0.
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
   * Edge or corner of the image for the layer. Accepts one of center, north, northeast, east,
   * southeast, south, southwest, west, northwest.
   */
  position?: LayerPosition | undefined;
  /**
   * Distance from the left or right edge, in CSS pixels or percent of the output width; moves
   * centred layers to the right. Accepts a whole number from -99999 to 99999, or a number from
   * -99999 to 99999 with %, such as 10%. Default: 0.
   */
  offsetX?: LayerOffsetX | undefined;
  /**
   * Distance from the top or bottom edge, in CSS pixels or percent of the output height; moves
   * centred layers down. Accepts a whole number from -99999 to 99999, or a number from -99999 to
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
  /** When the key was revoked; null for a valid key. */
  revokedAt: string | null;
}

export interface ProjectKeyInput {
  /** User of the key. 1 to 80 characters. */
  name: string;
  /** `write`, the default of the API, can change the project; `read` can only read it. */
  access?: 'read' | 'write' | undefined;
}

/** An API key of one project. No operation returns its secret again. */
export interface NewProjectKey {
  /** `key_` and 16 base-36 characters. */
  id: string;
  name: string;
  access: 'read' | 'write';
  createdAt: string;
  /** When the key was revoked; null for a valid key. */
  revokedAt: string | null;
  /** `sk_` and 43 base64url characters. */
  secret: string;
}

/** A project's URL signing, without its secrets. */
export interface Signing {
  /** Whether image URLs require a signature. */
  required: boolean;
  /** Maximum lifetime of a signed URL in seconds; null for no limit. 60 to 2592000. */
  ttlSeconds: number | null;
  /** Number of valid secrets: 2 while a secret is being replaced. 0 to 2. */
  secretCount: number;
}

export interface SigningSecretInput {
  /**
   * Maximum lifetime of a signed URL in seconds; null for no limit. Only for the first secret, or
   * with replaceAll. 60 to 2592000.
   */
  ttlSeconds?: number | null | undefined;
  /**
   * Revokes all previous secrets and their signed URLs at once. Otherwise the last secret stays
   * valid until you revoke it.
   */
  replaceAll?: boolean | undefined;
}

/** A secret that signs URLs. No operation returns it again. */
export interface NewSigningSecret {
  /** Whether image URLs require a signature. */
  required: boolean;
  /** Maximum lifetime of a signed URL in seconds; null for no limit. 60 to 2592000. */
  ttlSeconds: number | null;
  /** Number of valid secrets: 2 while a secret is being replaced. 0 to 2. */
  secretCount: number;
  secret: string;
}

export interface SignedUrlInput {
  /**
   * An image URL of the project, its path and query starting with `/img`, or a delivery host URL. At
   * most 8192 characters.
   */
  url: string;
  /** Seconds; defaults to the project's ttlSeconds or an hour. 1 to 2592000. */
  validFor?: number | undefined;
}

export interface SignedUrl {
  /** The URL with `exp` and `sig` appended. */
  url: string;
  expiresAt: string;
}

/** The meaning of an image URL. */
export interface UrlMeaning {
  /** Absolute URL of the source. */
  source: string;
  /** The native URL from `/img/` on; null if it depends on the source's size. */
  native: string | null;
  /** The image parameters of the native URL. */
  options: readonly {
    name: string;
    value: string;
    meaning: string;
  }[];
  /** Options of the URL without any effect. */
  ignored: readonly string[];
}

/** A secret that signs another service's URLs. Responses omit the secret. */
export interface UrlSecret {
  /** Service that signs its URLs with the secret, as in `urls` of a delivery host. */
  kind: 'imgix' | 'cloudinary' | 'imgproxy' | 'thumbor';
  /** Valid secrets: 2 while one is being replaced. 1 to 2. */
  secretCount: number;
  updatedAt: string;
}

export interface UrlSecretInput {
  /**
   * imgix's token, Cloudinary's API secret, thumbor's key, or imgproxy's key in hexadecimal digits.
   * 1 to 512 characters.
   */
  secret: string;
  /** imgproxy's salt in hexadecimal digits; others have none. 1 to 512 characters. */
  salt?: string | undefined;
  /** Keeps the current secret valid too, until the next change. */
  keepPrevious?: boolean | undefined;
}

/** A request that notifies a client when its prewarming or purge ends. */
export interface Callback {
  /** `webhook-id` of the request. */
  id: string;
  subject: 'prewarm' | 'purge';
  /** Id of the prewarming or purge. */
  callId: string;
  /** Callback URL without its query, which can contain secrets. */
  url: string;
  /** `waiting` for the call to end or for the next attempt; `done` and `failed` are final. */
  status: 'waiting' | 'done' | 'failed';
  /** Failed attempts. */
  failureCount: number;
  /** Why the last attempt failed; null if it succeeded. */
  reason: string | null;
  createdAt: string;
  /** When the last attempt ended; null before the first attempt. */
  endedAt: string | null;
}

/** Version details to include in a bug report. */
export interface ServiceVersion {
  /** Version of the service, not of this interface. */
  service: string;
  /** Node.js version. */
  node: string;
  /** Operating system and architecture. */
  platform: string;
}

/** Monitors rely on `ok`, `status`, `checks.database.ok` and the HTTP status. */
export interface HealthStatus {
  ok: boolean;
  service?: string | undefined;
  status?: 'ok' | 'degraded' | 'unavailable' | 'draining' | undefined;
  /** Reason for a status other than `ok`. */
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
              /** Projects served without the store. */
              known?: number | undefined;
              /** Time since the store last confirmed them. */
              ageSeconds?: number | null | undefined;
              /**
               * `slow`: the store is so slow that image requests wait until their project is confirmed.
               * `unavailable`: projects are served as last confirmed.
               */
              status?: 'ok' | 'slow' | 'unavailable' | undefined;
            }
          | undefined;
        /**
         * While the store is unavailable: the last known values of the process that responds, 0 if it
         * never read any.
         */
        prewarmQueue?:
          | {
              active?: number | undefined;
              waiting?: number | undefined;
              delayed?: number | undefined;
              queued?: number | undefined;
              failed?: number | undefined;
              /**
               * When a worker last took jobs, by the store's clock; null if no worker ever has. Workers update
               * it every 5 seconds.
               */
              workerSeenAt?: string | null | undefined;
              /**
               * `no_worker`: no worker has been seen for 30 seconds, so prewarming and webhooks wait.
               * `backlogged`: a due job has waited for more than a minute. `unknown`: the store is unavailable.
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
              /** Terminated threads that are still running. */
              stuck?: number | undefined;
              status?: 'ok' | 'busy' | 'saturated' | undefined;
            }
          | undefined;
        /** Source fetches, and sources in memory. */
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
              /** Source formats supported by this installation. */
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
    /** Frame size in pixels, upright. */
    width: number;
    /** Frame size in pixels, upright. */
    height: number;
    /** File size. */
    bytes: number;
    /** Pages, or frames of an animation. */
    pages: number;
    /** Frames of an animation, even if the service reads only the first; 1 for a still image. */
    frames: number;
    /** True if it has transparency. */
    hasAlpha: boolean;
    /** EXIF orientation of the stored pixels; 1 is upright. 1 to 8. */
    orientation: number;
    /** Colour profile name, such as `Display P3`; null without a named profile. At most 80 characters. */
    profile: string | null;
  };
  /** The image of the same request without `fmt`. */
  output: {
    /** Format, such as `webp`. */
    format: string;
    /** Frame size in pixels. */
    width: number;
    /** Frame size in pixels. */
    height: number;
    /** File size. */
    bytes: number;
  };
  /** The colour that covers the largest area; null for a fully transparent image. */
  dominant: string | null;
  /**
   * Up to five colours that represent the image, including the dominant colour, by descending share.
   * At most 5 items.
   */
  palette: readonly {
    /** As `#rrggbb`. */
    color: string;
    /** Fraction of the opaque area that is nearest to this colour. 0 to 1. */
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
   * EXIF fields of the output. Empty if the project strips metadata; only `artist` and `copyright`
   * with `keep=copyright`.
   */
  exif: {
    /** Camera maker. At most 500 characters. */
    cameraMake?: string | undefined;
    /** Camera model. At most 500 characters. */
    cameraModel?: string | undefined;
    /** Lens model. At most 500 characters. */
    lens?: string | undefined;
    /** Program that wrote the image. At most 500 characters. */
    software?: string | undefined;
    /** Capture time in the camera's local time, with its UTC offset if known. */
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
  | 'svg'
  | 'blurhash'
  | 'thumbhash'
  | 'lqip'
  | 'json'
  | 'jpg';

export type ImageFit = 'contain' | 'cover' | 'fill' | 'inside' | 'outside';

export type ImageDpr = number | 'auto';

export type ImagePos = string;

export type ImageFp = string;

export type ImageEnlarge = boolean | string;

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

export type ImageFlag = boolean | '' | '1' | '0';

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
  /** Name of the HTTP status. Clients should use `code` instead. */
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
    | 'url_secret_not_found'
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
  /** The next step to take. */
  resolution_hint: string;
}

/** Inputs of each control-plane operation, and the value in its response body. */
export interface Operations {
  /**
   * List projects. Lists the projects that the key can access: its project, or all projects of its
   * organisation. Without `limit` and `cursor`, the response contains all projects by creation
   * date, up to 16 MB (about 25,000 projects). With either, it contains a page, ordered by id.
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
  /** Read a project. Returns the project, with its transform defaults and allowlist. */
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
   * Update the name or site. Changes the given fields; requires at least one. The host of a new
   * origin is added to the allowlist; the old host stays allowed until you remove it.
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
   * signing secrets, waiting callbacks, usage and cached images. Within 2 seconds, every process
   * that reaches the store returns 404 for its image URLs. Deletion cannot be undone; a repeated
   * call returns 404. While prewarming waits or runs, the call fails unless `force` cancels the
   * prewarming.
   */
  deleteProject: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: {
      /** `true` cancels prewarming that waits or runs. */
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
  /** Update transform defaults. Changes the given defaults, at least one. */
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
   * variants. Nothing is queued if a source fails the allowlist or address checks, or if the queue
   * is full. The `Location` header contains the path of the progress; its last segment is the
   * `prewarmId`.
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
   * Read the progress of prewarming. Returns the status of a prewarm request from the last day. The
   * id is the last segment of the `Location` header of its response. A project keeps the last 1,000
   * requests.
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
   * Purge images. Purges the cached images of sources, or all images of the project. Within 2
   * seconds, no process that reaches the store serves an image made from bytes fetched before the
   * purge. Name sources by the URL in image URLs, not by a URL to which it redirects. The watermark
   * URL purges all images with the watermark. The `Location` header contains the path of the
   * progress; its last segment is the `purgeId`.
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
   * Read the progress of a purge. Returns the status of a purge from the last day. The id is the
   * last segment of the `Location` header of its response. A project keeps the last 1,000 purges.
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
   * Read the freshness settings. Returns the source age and the browser age; both are null if the
   * project's images do not follow their sources.
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
   * Set the freshness settings. Images older than the source age are still served while the service
   * revalidates their source in the background. Browsers receive the browser age; CDNs receive the
   * remaining source age.
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
   * Read the usage per day. Returns requests, bytes and renders per day (UTC), by default for the
   * last 30 days. The counts are at most a minute old. `format=csv` or `Accept: text/csv` returns
   * CSV.
   */
  getProjectUsage: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: {
      /** First day (UTC). Default: 29 days before the last day. */
      from?: string | undefined;
      /** Last day (UTC). Default: today. At most 400 days in total. */
      to?: string | undefined;
      /** Overrides the Accept header. */
      format?: 'json' | 'csv' | undefined;
    };
    body: undefined;
    result: Usage;
  };
  /**
   * Read the top requests. Returns the most requested sources and variants of the last hour and day,
   * hits by cache, bytes saved, the time of misses, and unsigned requests. The counts are at most a
   * minute old.
   */
  getProjectTop: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: Top;
  };
  /**
   * List the last failures. Lists the last 100 failed image requests of the day, newest first, with
   * equal failures combined. The list is at most a minute old.
   */
  listProjectFailures: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly ImageFailure[];
  };
  /** Read the daily limits. Returns the daily limits; null means no limit. */
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
   * Set the daily limits. Requires a root key. Above a limit, requests that need a render get 429
   * `usage_limit_reached` until the next day (UTC); cached images are still delivered. Each
   * additional process can exceed the render limit by one render or 1% of the limit, whichever is
   * more.
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
   * Allow a source host. Adds a normalised public host name to the allowlist. Adding an existing
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
   * Remove a source host. Removes a host from the allowlist. Removing a missing host is not an
   * error. Send the host in the query or in the body; the query takes precedence.
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
  /** List delivery hosts. Lists the project's delivery hosts by name. */
  listProjectHosts: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly DeliveryHost[];
  };
  /** Read a delivery host. Returns the base URL and the URL format of the host. */
  getProjectHost: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard or port. At most 255 characters. */
      host: string;
    };
    query: undefined;
    body: undefined;
    result: DeliveryHost;
  };
  /**
   * Create or replace a delivery host. Requires a root key. Within two seconds the host serves the
   * project's images: the path is appended to `base`. A host belongs to a single project.
   */
  putProjectHost: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard or port. At most 255 characters. */
      host: string;
    };
    query: undefined;
    body: DeliveryHostInput;
    result: DeliveryHost;
  };
  /**
   * Delete a delivery host. Requires a root key. Returns the remaining hosts. Deleting a missing
   * host is not an error. Requests for the host then fail.
   */
  deleteProjectHost: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard or port. At most 255 characters. */
      host: string;
    };
    query: undefined;
    body: undefined;
    result: readonly DeliveryHost[];
  };
  /**
   * List private origins. Hosts with sources in a bucket, or with sources that need request headers.
   * Contains no secrets.
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
   * Create or replace a private origin. Sets the request headers for a host's sources, or the bucket
   * that contains them. They are stored encrypted, and no operation returns them. Sources need the
   * host on the allowlist. Cached images do not change.
   */
  putProjectOrigin: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard, with its port unless it is 443 or 80. */
      host: string;
    };
    query: undefined;
    body: ProjectOriginInput;
    result: ProjectOrigin;
  };
  /**
   * Delete a private origin. Returns the remaining origins. Deleting a missing origin is not an
   * error. Afterwards the service fetches the host's sources without headers.
   */
  deleteProjectOrigin: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A host name without wildcard, with its port unless it is 443 or 80. */
      host: string;
    };
    query: undefined;
    body: undefined;
    result: readonly ProjectOrigin[];
  };
  /** List presets. Lists the project's presets by name. */
  listProjectPresets: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Preset[];
  };
  /** Read a preset. Returns the parameters that `preset` applies in the project's image URLs. */
  getProjectPreset: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
      presetName: string;
    };
    query: undefined;
    body: undefined;
    result: Preset;
  };
  /**
   * Create or replace a preset. Accepts image URL parameters with the same rules. Image URLs with
   * the preset change at once.
   */
  putProjectPreset: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
      presetName: string;
    };
    query: undefined;
    body: PresetInput;
    result: Preset;
  };
  /**
   * Delete a preset. Returns the remaining presets. Deleting a missing preset is not an error. Image
   * URLs with the preset then fail.
   */
  deleteProjectPreset: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
      presetName: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Preset[];
  };
  /** List layers. Lists the project's layers by name. */
  listProjectLayers: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Layer[];
  };
  /** Read a layer. Returns the layer that `layer` draws in the project's image URLs. */
  getProjectLayer: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
      layerName: string;
    };
    query: undefined;
    body: undefined;
    result: Layer;
  };
  /**
   * Create or replace a layer. Accepts an image on an allowed host, or a text. Omitted fields have
   * their defaults. Image URLs with the layer change at once.
   */
  putProjectLayer: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
      layerName: string;
    };
    query: undefined;
    body: LayerInput;
    result: Layer;
  };
  /**
   * Delete a layer. Returns the remaining layers. Deleting a missing layer is not an error. Image
   * URLs with the layer then fail.
   */
  deleteProjectLayer: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** A lower-case letter, followed by up to 39 lower-case letters, digits, - and _. */
      layerName: string;
    };
    query: undefined;
    body: undefined;
    result: readonly Layer[];
  };
  /**
   * List a project's keys. Lists the keys limited to this project, including revoked keys, ordered
   * by id. Requires a key for all projects.
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
   * Create a project key. Returns the secret, once. A project has at most 100 valid keys. Requires a
   * write key for all projects.
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
   * Revoke a project key. Takes effect within two seconds and returns the project's keys. Revoking a
   * missing key is not an error. Requires a write key for all projects.
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
  /** Read the signing settings. Contains no secrets. Requires a key for all projects. */
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
   * Require signatures, or replace the secret. Returns a new secret, once. After the first secret,
   * the project accepts only signed URLs, within two seconds. After another secret, both are valid
   * until the previous secret is revoked. Requires a write key for all projects.
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
   * Revoke the previous secret. Rejects URLs signed with the previous secret, within two seconds. If
   * there is no previous secret, nothing changes. Requires a write key for all projects.
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
  /** Accept unsigned image URLs. Deletes the secrets. Requires a write key for all projects. */
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
   * Sign an image URL. Signs with the current secret. Intended for single URLs, such as in a
   * console; backends sign their URLs themselves. Requires a write key for all projects.
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
   * Explain an image URL. Returns the native URL of an image URL, including another service's. The
   * host's `urls` and `base` determine the meaning of a delivery host URL. Does not check
   * signatures.
   */
  getProjectUrlMeaning: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: {
      /** The image URL. At most 16384 characters. */
      url?: string | undefined;
      /** Service that the URL belongs to, if its host is not a delivery host. */
      urls?:
        | 'native'
        | 'cloudflare'
        | 'cloudinary'
        | 'iiif'
        | 'imgix'
        | 'imgproxy'
        | 'next'
        | 'thumbor'
        | undefined;
      /** Width of the upright source. 1 to 999999. */
      width?: number | undefined;
      /** Height of the upright source. 1 to 999999. */
      height?: number | undefined;
    };
    body: undefined;
    result: UrlMeaning;
  };
  /**
   * List URL secrets. Lists the services with a URL secret; contains no secrets. Requires a key for
   * all projects.
   */
  listProjectUrlSecrets: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
    };
    query: undefined;
    body: undefined;
    result: readonly UrlSecret[];
  };
  /**
   * Read a URL secret. Returns the time of the last change, but not the secret. Requires a key for
   * all projects.
   */
  getProjectUrlSecret: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** Service that signs its URLs with the secret, as in `urls` of a delivery host. */
      kind: 'imgix' | 'cloudinary' | 'imgproxy' | 'thumbor';
    };
    query: undefined;
    body: undefined;
    result: UrlSecret;
  };
  /**
   * Create or replace a URL secret. Within two seconds, the project rejects the service's URLs with
   * a wrong signature and, if it requires signatures, unsigned URLs. Requires a write key for all
   * projects.
   */
  putProjectUrlSecret: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** Service that signs its URLs with the secret, as in `urls` of a delivery host. */
      kind: 'imgix' | 'cloudinary' | 'imgproxy' | 'thumbor';
    };
    query: undefined;
    body: UrlSecretInput;
    result: UrlSecret;
  };
  /**
   * Delete a URL secret. Returns the remaining secrets. Deleting a missing secret is not an error.
   * Without a secret, the project does not check the service's signatures, and rejects its URLs if
   * it requires signatures. Requires a write key for all projects.
   */
  deleteProjectUrlSecret: {
    path: {
      /** `prj_` and 16 base-36 characters. */
      projectId: string;
      /** Service that signs its URLs with the secret, as in `urls` of a delivery host. */
      kind: 'imgix' | 'cloudinary' | 'imgproxy' | 'thumbor';
    };
    query: undefined;
    body: undefined;
    result: readonly UrlSecret[];
  };
  /**
   * List the last callbacks. Lists the project's last 50 callback requests, newest first. The queue
   * keeps finished requests for a while.
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
  /** Read the service version. Requires a key, because no other response reveals the version. */
  getServiceVersion: {
    path: undefined;
    query: undefined;
    body: undefined;
    result: ServiceVersion;
  };
}
