/** The page at `/docs`: Swagger UI with this service's OpenAPI document. */

type SwaggerUi = (options: Readonly<Record<string, unknown>>) => unknown;

/** Set by the script of Swagger UI, which is not a module. */
const { SwaggerUIBundle } = window as unknown as { SwaggerUIBundle: SwaggerUi };

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followScheme();
dark.addEventListener('change', followScheme);

const response = await fetch('openapi.json', { headers: { accept: 'application/json' } });
const spec = await response.json();
// "Try it out" must use the origin of this page; the CSP blocks others.
spec.servers = [{ url: new URL('.', location.href).href.replace(/\/$/, '') }];
SwaggerUIBundle({
  spec,
  dom_id: '#docs',
  deepLinking: true,
  // No requests to other hosts, and no configuration by the URL.
  validatorUrl: null,
  queryConfigEnabled: false,
  // Keys stay in the memory of the page.
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
});

export {};
