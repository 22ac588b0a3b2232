// Runs in node: calls the user's function and writes one marked line. Given to node as text.
import { pathToFileURL } from "node:url";

const KEPT_ENV = new Set(["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"]);

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const request = JSON.parse(Buffer.concat(chunks).toString("utf8"));

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
for (const name of Object.keys(process.env)) {
  if (!KEPT_ENV.has(name) && !name.startsWith("SKILLGAUGE_")) delete process.env[name];
}

function tell(message) {
  write(`\n${request.marker} ${JSON.stringify(message)}\n`, () => process.exit(0));
}

function fail(error) {
  tell({ error: error instanceof Error ? `${error.name}: ${error.message}` : `it threw ${String(error)}` });
}

process.on("uncaughtException", fail);
try {
  const module = await import(pathToFileURL(request.path).href);
  const score = typeof module.default === "function" ? module.default : module.default?.default;
  if (typeof score !== "function") throw new TypeError("its default export is no function `(output, expected)`");
  const result = await score(request.output, request.expected);
  const odd = [result, result?.score].find((one) => typeof one === "number" && !Number.isFinite(one));
  if (odd !== undefined) tell({ error: `${odd} is no number that a score can be` });
  else if (["undefined", "function", "symbol", "bigint"].includes(typeof result))
    tell({ error: `it returned ${String(result)}` });
  else tell({ result });
} catch (error) {
  fail(error);
}
