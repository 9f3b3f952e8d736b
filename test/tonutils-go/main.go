// Reads a network with tonutils-go, which checks every proof from the init block on; the answers go to standard output as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/ton"
)

type question struct {
	// Global configuration of the network.
	Config json.RawMessage `json:"config"`
	// Accounts whose state is read.
	Accounts []string `json:"accounts"`
	// The account whose transactions are listed and whose get-method is run.
	Wallet string `json:"wallet"`
	Method string `json:"method"`
	// Number of a configuration parameter.
	Param int32 `json:"param"`
}

type answer struct {
	Seqno        uint32            `json:"seqno"`
	RootHash     string            `json:"rootHash"`
	Balances     map[string]string `json:"balances"`
	Transactions []string          `json:"transactions"`
	Method       string            `json:"method"`
	ParamHash    string            `json:"paramHash"`
}

func main() {
	given, err := read()
	if err == nil {
		var told answer
		if told, err = ask(given); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(told)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read() (question, error) {
	var given question
	return given, json.NewDecoder(os.Stdin).Decode(&given)
}

func ask(given question) (answer, error) {
	told := answer{Balances: map[string]string{}, Transactions: []string{}}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	var config liteclient.GlobalConfig
	if err := json.Unmarshal(given.Config, &config); err != nil {
		return told, err
	}
	pool := liteclient.NewConnectionPool()
	defer pool.Stop()
	if err := pool.AddConnectionsFromConfig(ctx, &config); err != nil {
		return told, err
	}
	api := ton.NewAPIClient(pool, ton.ProofCheckPolicySecure)
	api.SetTrustedBlockFromConfig(&config)
	head, err := api.CurrentMasterchainInfo(ctx)
	if err != nil {
		return told, fmt.Errorf("head: %w", err)
	}
	told.Seqno, told.RootHash = head.SeqNo, fmt.Sprintf("%x", head.RootHash)
	for _, text := range append(given.Accounts, given.Wallet) {
		account, err := api.GetAccount(ctx, head, address.MustParseRawAddr(text))
		if err != nil {
			return told, fmt.Errorf("account %s: %w", text, err)
		}
		told.Balances[text] = "none"
		if account.IsActive {
			told.Balances[text] = account.State.Balance.Nano().String()
		}
		if text != given.Wallet || account.LastTxLT == 0 {
			continue
		}
		transactions, err := api.ListTransactions(ctx, address.MustParseRawAddr(text), 10, account.LastTxLT, account.LastTxHash)
		if err != nil {
			return told, fmt.Errorf("transactions: %w", err)
		}
		for _, one := range transactions {
			told.Transactions = append(told.Transactions, fmt.Sprintf("%x", one.Hash))
		}
	}
	ran, err := api.RunGetMethod(ctx, head, address.MustParseRawAddr(given.Wallet), given.Method)
	if err != nil {
		return told, fmt.Errorf("get-method: %w", err)
	}
	number, err := ran.Int(0)
	if err != nil {
		return told, fmt.Errorf("get-method: %w", err)
	}
	told.Method = number.String()
	params, err := api.GetBlockchainConfig(ctx, head, given.Param)
	if err != nil {
		return told, fmt.Errorf("config: %w", err)
	}
	told.ParamHash = fmt.Sprintf("%x", params.Get(given.Param).Hash())
	return told, nil
}
