import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { FeishuConfigError, checkAppId, resolveBaseUrl } from "./base-url.ts";
import { chooseProxy, makeAgents } from "./proxy.ts";

const target = new URL("https://open.feishu.cn");
const environment = { HTTPS_PROXY: "http://proxy.example:3128", no_proxy: "internal.example,.corp" };

describe("the choice of a proxy", () => {
  it("never takes one for this machine", () => {
    for (const host of ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:1", "http://127.9.9.9", "http://a.localhost"]) {
      expect(chooseProxy(new URL(host), "http://proxy.example:1", {})).toBeNull();
      expect(chooseProxy(new URL(host), "environment", { http_proxy: "http://p:1", HTTP_PROXY: "http://p:1" })).toBeNull();
    }
  });

  it("reads the environment, but for exempt hosts", () => {
    expect(chooseProxy(target, "environment", environment)?.host).toBe("proxy.example:3128");
    expect(chooseProxy(target, "environment", {})).toBeNull();
    expect(chooseProxy(target, "none", environment)).toBeNull();
    for (const host of ["https://internal.example", "https://a.internal.example", "https://x.corp"]) expect(chooseProxy(new URL(host), "environment", environment)).toBeNull();
    expect(chooseProxy(target, "environment", { ...environment, NO_PROXY: "*", no_proxy: "*" })).toBeNull();
  });

  it("refuses what is no http proxy", () => {
    expect(() => chooseProxy(target, "socks5://p:1", {})).toThrow(FeishuConfigError);
    expect(() => chooseProxy(target, "proxy", {})).toThrow(FeishuConfigError);
  });
});

describe("a tunnel", () => {
  const servers: Server[] = [];
  afterEach(() => servers.splice(0).forEach((server) => { server.closeAllConnections(); server.close(); }));
  const listen = async (server: Server): Promise<number> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };

  it("carries a request, and names the proxy without its password", async () => {
    const asked: string[] = [];
    const origin = await listen(createServer((_, response) => response.end("through")));
    const proxy = createServer();
    proxy.on("connect", (request, socket) => {
      asked.push(`${request.url ?? ""} ${request.headers["proxy-authorization"] ?? ""}`);
      const upstream = connect(origin, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
    });
    const agents = makeAgents("http://feishu.example", `http://user:p%40ss@127.0.0.1:${await listen(proxy)}`, {});
    const { request } = await import("node:http");
    const text = await new Promise<string>((resolve, reject) => {
      request("http://feishu.example/path", { agent: agents.http }, (response) => response.on("data", (part: Buffer) => resolve(part.toString()))).on("error", reject).end();
    });
    expect(text).toBe("through");
    expect(asked).toEqual([`feishu.example:80 Basic ${Buffer.from("user:p@ss").toString("base64")}`]);
    expect(agents.via).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    agents.http.destroy();
  });

  it("fails as a proxy fault when the proxy refuses", async () => {
    const proxy = createServer();
    proxy.on("connect", (_, socket) => socket.end("HTTP/1.1 407 No\r\n\r\n"));
    const agents = makeAgents("http://feishu.example", `http://127.0.0.1:${await listen(proxy)}`, {});
    const { request } = await import("node:http");
    const code = await new Promise((resolve) => request("http://feishu.example/", { agent: agents.http }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code)).end());
    expect(code).toBe("ERR_PROXY");
  });
});

describe("the base URL", () => {
  it("is Feishu, Lark or any http address", () => {
    expect(resolveBaseUrl(undefined)).toBe("https://open.feishu.cn");
    expect(resolveBaseUrl("Lark")).toBe("https://open.larksuite.com");
    expect(resolveBaseUrl("http://127.0.0.1:99/")).toBe("http://127.0.0.1:99");
    expect(resolveBaseUrl("https://gate.example/feishu/")).toBe("https://gate.example/feishu");
    for (const wrong of ["ftp://x", "nonsense", "http://u:p@x", "http://x?y=1", "http://x#z"]) expect(() => resolveBaseUrl(wrong)).toThrow(FeishuConfigError);
  });

  it("says at once when the app id has a form that the SDK silently ignores", () => {
    expect(() => checkAppId("cli_123")).toThrow(/16 hexadecimal/);
    expect(() => checkAppId("cli_a5fb0ae6a4000001")).not.toThrow();
  });
});
