import { createServer } from 'node:http';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import t from 'tap';
import { listen } from '../listen.ts';
import { rootPath } from '../root.ts';

t.test('needs only the features of browsers and edge runtimes', async (t) => {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(rootPath, 'sdk/src/client/index.ts')],
    absWorkingDir: rootPath,
    bundle: true,
    minify: true,
    // The browser platform resolves no Node modules.
    platform: 'browser',
    format: 'iife',
    globalName: 'sdk',
    write: false,
    metafile: true,
  });
  const inputs = Object.keys(metafile.inputs);
  t.ok(inputs.every((input) => input.startsWith('sdk/src/')));
  const [{ text } = { text: '' }] = outputFiles;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"projects":[]}');
  });
  const baseUrl = `http://127.0.0.1:${await listen(t, server)}`;
  const web = {
    AbortController,
    clearTimeout,
    fetch,
    performance,
    setTimeout,
    TextDecoder,
    URL,
    URLSearchParams,
  };
  const context = createContext(web);
  runInContext(text, context);
  const call = `sdk.createClient({ baseUrl: '${baseUrl}', apiKey: 'sk_a' }).listProjects()`;
  t.same(await runInContext(call, context), []);
});
