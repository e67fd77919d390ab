// Command beside-opa measures OPA's own decision-log plugin with the requests and under the names of bench-harness, so that
// rbenchstat sets the results of both side by side.
//
// It does what the authorization filter of an HTTP proxy does to a request: input document, policy, decision, decision log.
// It is driven by scripts/beside-opa.py.
package main

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/loader"
	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/plugins/logs"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/server"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/version"
)

var (
	policy    = flag.String("policy", "", "Rego file")
	requests  = flag.String("requests", "", "JSON lines, as `bench-harness requests` prints them")
	scenario  = flag.String("scenario", "minimal", "part of the benchmark's name")
	reporting = flag.String("reporting", "{}", "decision_logs.reporting of OPA's configuration, as JSON")
	withLogs  = flag.Bool("logs", false, "log decisions")
	consumer  = flag.Bool("consumer", false, "send them to a server on 127.0.0.1 that takes everything")
	workers   = flag.Int("workers", 1, "goroutines that decide")
	benchtime = flag.Duration("benchtime", time.Second, "how long to measure")
	warmup    = flag.Duration("warmup", 100*time.Millisecond, "how long to run before measuring")
	print     = flag.Bool("print", false, "write one event as it is uploaded, and end")
)

type request struct {
	Method, Path, Host string
	Headers            map[string]any
	Body               any
	Expected           any
}

// histogram has three digits, as the one of bench-harness.
type histogram struct {
	counts [64 << 10]uint32
	total  uint64
}

func (h *histogram) record(nanoseconds uint64) {
	h.counts[bucket(nanoseconds)]++
	h.total++
}

func bucket(value uint64) int {
	shift := max(bits.Len64(value)-11, 0)
	return shift<<10 + int(value>>shift)
}

func value(bucket int) uint64 {
	if bucket < 2<<10 {
		return uint64(bucket)
	}
	shift := bucket>>10 - 1
	return uint64(bucket-shift<<10) << shift
}

func (h *histogram) quantile(quantile float64) uint64 {
	rank, seen := uint64(quantile*float64(h.total)+0.999999), uint64(0)
	for index, count := range h.counts {
		if seen += uint64(count); seen >= rank && count > 0 {
			return value(index)
		}
	}
	return 0
}

// input lays a request out as the Envoy plugin does.
func input(r *request, id string) (map[string]any, error) {
	headers := map[string]any{"x-envoy-auth-partial-body": "false"}
	contentType := ""
	for name, value := range r.Headers {
		name = strings.ToLower(name)
		headers[name] = value
		if name == "content-type" {
			contentType, _ = value.(string)
		}
	}
	requested := map[string]any{"method": r.Method, "path": r.Path, "host": r.Host, "headers": headers}
	var parsed any
	if body, ok := r.Body.(string); ok {
		requested["rawBody"] = base64.StdEncoding.EncodeToString([]byte(body))
		if strings.Contains(contentType, "application/json") {
			if err := json.Unmarshal([]byte(body), &parsed); err != nil {
				return nil, err
			}
		}
	}
	target, err := url.Parse(r.Path)
	if err != nil {
		return nil, err
	}
	var path []any
	for _, part := range strings.Split(strings.TrimLeft(target.Path, "/"), "/") {
		path = append(path, part)
	}
	query := map[string]any{}
	for key, values := range target.Query() {
		list := make([]any, len(values))
		for index, value := range values {
			list[index] = value
		}
		query[key] = list
	}
	return map[string]any{
		"attributes": map[string]any{
			"request": map[string]any{"http": requested},
			"metadataContext": map[string]any{"filterMetadata": map[string]any{
				"open_policy_agent": map[string]any{"decision_id": id},
			}},
		},
		"parsed_path": path, "parsed_query": query, "parsed_body": parsed, "truncated_body": false,
		"version": map[string]any{"ext_authz": "v3", "encoding": "protojson"},
	}, nil
}

type filter struct {
	manager *plugins.Manager
	logger  *logs.Plugin
	query   rego.PreparedEvalQuery
}

func (f *filter) authorize(ctx context.Context, r *request) error {
	arrived, timers := time.Now(), metrics.New()
	timers.Timer(metrics.ServerHandler).Start()
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	id := hex.EncodeToString(random[:])
	document, err := input(r, id)
	if err != nil {
		return err
	}
	parsed, err := ast.InterfaceToValue(document)
	if err != nil {
		return err
	}
	txn, err := f.manager.Store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return err
	}
	defer f.manager.Store.Abort(ctx, txn)
	results, err := f.query.Eval(ctx, rego.EvalParsedInput(parsed), rego.EvalTransaction(txn), rego.EvalMetrics(timers))
	if err != nil {
		return err
	}
	if len(results) != 1 {
		return fmt.Errorf("%s %s: undefined", r.Method, r.Path)
	}
	result := results[0].Expressions[0].Value
	if result != r.Expected {
		return fmt.Errorf("%s %s: the decision is %v, expected %v", r.Method, r.Path, result, r.Expected)
	}
	if f.logger == nil {
		return nil
	}
	logged := any(document)
	timers.Timer(metrics.ServerHandler).Stop()
	return f.logger.Log(ctx, &server.Info{
		Txn: txn, DecisionID: id, Path: "envoy/authz/allow", Timestamp: arrived,
		Input: &logged, Results: &result, Metrics: timers,
	})
}

func newFilter(ctx context.Context, url string) (*filter, error) {
	files, err := loader.NewFileLoader().All([]string{*policy})
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`{"services": {"logs": {"url": %q}}, "labels": {"environment": "bench"}}`, url)
	manager, err := plugins.New([]byte(config), "beside-opa", inmem.New(), plugins.InitFiles(*files), plugins.Logger(logging.NewNoOpLogger()))
	if err != nil {
		return nil, err
	}
	if err := manager.Init(ctx); err != nil {
		return nil, err
	}
	f := &filter{manager: manager}
	f.query, err = rego.New(
		rego.Query("data.envoy.authz.allow"), rego.Compiler(manager.GetCompiler()), rego.Store(manager.Store),
	).PrepareForEval(ctx)
	if err != nil || !*withLogs {
		return f, err
	}
	raw := fmt.Sprintf(`{"service": "logs", "reporting": %s}`, *reporting)
	parsed, err := logs.ParseConfig([]byte(raw), []string{"logs"}, nil)
	if err != nil {
		return nil, err
	}
	f.logger = logs.New(parsed, manager)
	if err := f.logger.Start(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// run decides for a time, and returns what each worker saw.
func run(ctx context.Context, f *filter, list []*request, time_ time.Duration) ([]*histogram, time.Duration, error) {
	histograms := make([]*histogram, *workers)
	for index := range histograms {
		histograms[index] = new(histogram)
	}
	var group sync.WaitGroup
	var failed atomic.Value
	started := time.Now()
	for worker, h := range histograms {
		group.Add(1)
		go func() {
			defer group.Done()
			next, ended := len(list)*worker / *workers, started
			for ended.Sub(started) < time_ && failed.Load() == nil {
				begin := time.Now()
				err := f.authorize(ctx, list[next%len(list)])
				ended = time.Now()
				if err != nil {
					failed.Store(err)
					return
				}
				h.record(uint64(ended.Sub(begin)))
				next++
			}
		}()
	}
	group.Wait()
	wall := time.Since(started)
	if err, ok := failed.Load().(error); ok {
		return nil, 0, err
	}
	return histograms, wall, nil
}

// take reads an upload to its end, and writes it where it was asked for.
func take(w http.ResponseWriter, r *http.Request) {
	body, err := gzip.NewReader(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var out io.Writer = io.Discard
	if *print {
		out = os.Stdout
	}
	_, _ = io.Copy(out, body)
}

func main() {
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("beside-opa: ")
	ctx := context.Background()
	text, err := os.ReadFile(*requests)
	if err != nil {
		log.Fatal(err)
	}
	var list []*request
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		r := new(request)
		if err := json.Unmarshal([]byte(line), r); err != nil {
			log.Fatal(err)
		}
		list = append(list, r)
	}
	// Nobody listens there: as in OPA's own benchmark, nothing is uploaded within the delays.
	url := "http://127.0.0.1:9"
	if *consumer || *print {
		sink := httptest.NewServer(http.HandlerFunc(take))
		defer sink.Close()
		url = sink.URL
	}
	f, err := newFilter(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	if *print {
		if err := f.authorize(ctx, list[0]); err != nil {
			log.Fatal(err)
		}
		if err := f.logger.Trigger(ctx); err != nil {
			log.Fatal(err)
		}
		return
	}
	if _, _, err := run(ctx, f, list, *warmup); err != nil {
		log.Fatal(err)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	histograms, wall, err := run(ctx, f, list, *benchtime)
	runtime.ReadMemStats(&after)
	if err != nil {
		log.Fatal(err)
	}
	all := histograms[0]
	for _, h := range histograms[1:] {
		all.total += h.total
		for index, count := range h.counts {
			all.counts[index] += count
		}
	}
	variant, suffix := "no-decision-logs", ""
	if *withLogs {
		variant = "with-decision-logs"
	}
	if *workers > 1 {
		suffix = fmt.Sprintf("-%d", *workers)
	}
	stem := fmt.Sprintf("BenchmarkAuthorizeRequest/%s/%s", *scenario, variant)
	fmt.Printf("goos: %s\ngoarch: %s\npkg: opa\n", runtime.GOOS, runtime.GOARCH)
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, found := strings.Cut(string(text), "model name\t: "); found {
			name, _, _ := strings.Cut(after, "\n")
			fmt.Printf("cpu: %s\n", name)
		}
	}
	fmt.Printf("# opa %s, %s, reporting %s\n", version.Version, runtime.Version(), *reporting)
	// The histograms are the harness's own.
	own := uint64(len(histograms)) * (64<<10*4 + 8)
	operations := all.total
	fmt.Printf("%s%s\t%d\t%.1f ns/op\t%d B/op\t%d allocs/op\n", stem, suffix, operations,
		float64(wall)/float64(operations), (after.TotalAlloc-before.TotalAlloc-own)/operations,
		(after.Mallocs-before.Mallocs)/operations)
	for _, percentile := range []float64{50, 99, 99.5, 99.9} {
		if beyond := float64(operations) * (1 - percentile/100); beyond < 10 {
			fmt.Printf("# %s/P%v%s left out: %d operations\n", stem, percentile, suffix, operations)
			continue
		}
		fmt.Printf("%s/P%v%s\t%d\t%d ns/op\n", stem, percentile, suffix, operations, all.quantile(percentile/100))
	}
}
