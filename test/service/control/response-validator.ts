import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface Content {
  readonly 'application/json'?: { readonly schema: object };
}

/** A response, or a reference to one of the components. */
interface DocumentedResponse {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
  readonly headers?: object;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
  readonly security?: readonly object[];
}

/** Parts of an OpenAPI document that tests read. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
    readonly securitySchemes: object;
  };
}

/** Validates statuses, error codes and bodies of responses against a service's OpenAPI document. */
export class ResponseValidator {
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #operations: ReadonlyArray<readonly [method: string, path: RegExp, key: string[]]>;

  constructor(document: OpenApiDocument) {
    this.#document = document;
    formats.default(this.#ajv);
    this.#operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => {
        const pattern = new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`);
        return [method.toUpperCase(), pattern, [path, method]] as const;
      }),
    );
  }

  static async of(url: string): Promise<ResponseValidator> {
    const response = await fetch(`${url}/openapi.json`);
    return new ResponseValidator((await response.json()) as OpenApiDocument);
  }

  /** @throws Error for an undocumented status or code, or an invalid body */
  check(method: string, target: string, status: number, body: unknown): void {
    const [path = ''] = target.split('?');
    const validate = this.#validator(method, path, status);
    if (validate(body)) return;
    const errors = JSON.stringify(validate.errors);
    throw new Error(`${method} ${path} ${status}: ${JSON.stringify(body)} has ${errors}`);
  }

  #validator(method: string, path: string, status: number): ValidateFunction {
    const [, , [template = '', verb = ''] = []] =
      this.#operations.find(
        ([operationMethod, pattern]) => operationMethod === method && pattern.test(path),
      ) ?? [];
    const key = `${verb} ${template} ${status}`;
    const known = this.#validators.get(key);
    if (known !== undefined) return known;
    const { paths, components } = this.#document;
    // Unknown methods and paths have common responses.
    const missing =
      template === '' && (status === 404 || status === 405)
        ? components.responses[`Error${status}`]
        : undefined;
    const reply = missing ?? paths[template]?.[verb]?.responses[status];
    const name = reply?.$ref?.replace('#/components/responses/', '');
    const error = name === undefined ? undefined : components.responses[name];
    const { content } = error ?? reply ?? {};
    // A missing body is read as zero bytes.
    const empty = { type: 'object', maxProperties: 0 };
    const schema = status === 204 && reply ? empty : content?.['application/json']?.schema;
    if (schema === undefined) throw new Error(`${method} ${path} does not document ${status}`);
    const codes = error?.description?.match(/(?<=`)\w+(?=`)/g);
    const named = codes ? { properties: { code: { enum: codes } } } : {};
    const validate = this.#ajv.compile({ allOf: [schema, named], components });
    this.#validators.set(key, validate);
    return validate;
  }
}
