/** The page at `/docs`: Swagger UI with this service's OpenAPI document. */

type SwaggerUi = (options: Readonly<Record<string, unknown>>) => unknown;

/** Set by Swagger UI's script, which is not a module. */
const { SwaggerUIBundle } = window as unknown as { SwaggerUIBundle: SwaggerUi };

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followScheme();
dark.addEventListener('change', followScheme);

const response = await fetch('openapi.json', { headers: { accept: 'application/json' } });
const spec = await response.json();
// "Try it out" must use this page's origin; the CSP blocks other origins.
spec.servers = [{ url: new URL('.', location.href).href.replace(/\/$/, '') }];
SwaggerUIBundle({
  spec,
  dom_id: '#docs',
  deepLinking: true,
  // Send no requests to other hosts, and allow no configuration by the URL.
  validatorUrl: null,
  queryConfigEnabled: false,
  // Keep keys only in the page's memory.
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
});

export {};
